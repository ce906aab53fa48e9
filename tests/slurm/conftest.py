"""One real Slurm for the tests of a worker: empty, or with work that fills its partition `batch` and one open node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.slurm.commands import Slurm
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, running_cluster, why_not


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster, with accounting where that is installed."""
    reason = why_not()
    if reason:
        pytest.skip(f"no Slurm: {reason}")
    with running_cluster(tmp_path_factory.mktemp("slurm"), accounting=not why_not(ACCOUNTING)) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with nothing in it but what fills `batch`: jobs wait there, and start at once in `open`."""
    filler = shared_cluster.fill()
    yield shared_cluster
    shared_cluster.cancel_all(but=filler)


@pytest.fixture
def empty_cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with nothing in it at all."""
    shared_cluster.cancel_all()
    yield shared_cluster
    shared_cluster.cancel_all()


@pytest.fixture
def slurm(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    """How the planner reaches the cluster."""
    monkeypatch.setenv("PATH", SEARCH)
    return Slurm(conf=cluster.conf)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The place of a journal that is not written yet."""
    return tmp_path / "journal.jsonl"
