"""Claims about runs on a Dask cluster: the same bytes as here, and nothing lost when a worker dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import plan
from tests.rolling import FIRST, LAST, write_rolling_site, written

pytest.importorskip("distributed", reason="Dask is not installed; pip install 'hpc-day-planner[dask]'")

COMPARE = ("compare", "site", "warm", "--from", FIRST, "--to", LAST, "-m", "multisearch", "-m", "wt")
QUICK = ("--bound-time", "0", "-q")


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the background, ended with the block."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), root]))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    begun = subprocess.Popen([sys.executable, "-m", *arguments], env=os.environ | {"PYTHONPATH": path}, **quiet)
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait(timeout=30)


def _wait_for(address: str, workers: int) -> None:
    """Wait until the workers have come to their scheduler."""
    if workers:
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and its workers on loopback: its address, and the workers."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        begin = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        stack.enter_context(process(*begin, "--scheduler-file", str(file)))
        until = time.monotonic() + 60
        while not file.is_file() or not file.read_text().strip():
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.05)
        worker = ("distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
        places = [("--no-dashboard", "--local-directory", str(folder / f"worker{k}")) for k in range(workers)]
        begun = [stack.enter_context(process(*worker, *place)) for place in places]
        address = json.loads(file.read_text())["address"].removeprefix("tcp://")
        _wait_for(address, workers)
        yield address, begun


def test_no_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A scheduler without workers is said at once, in one line, with what to do."""
    monkeypatch.chdir(write_rolling_site(tmp_path / "site"))
    with cluster(tmp_path, workers=0) as (address, _):
        assert run([*COMPARE, *QUICK, "--backend", "dask", "--address", address]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"has no workers; start some with `dask worker {address}`" in line


@pytest.mark.slow
def test_same_bytes_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers give the files of a run in this process, to the byte, though one is killed in the middle."""
    base = write_rolling_site(tmp_path / "site")
    monkeypatch.chdir(base)
    plan(*COMPARE, *QUICK, "--processes", "1", "--out", "here")
    with cluster(tmp_path) as (address, workers):
        command = [*COMPARE, *QUICK, "--backend", "dask", "--address", address, "--out", "there"]
        asked = subprocess.Popen([sys.executable, "-m", "planner", *command], cwd=base)
        until = time.monotonic() + 90
        while not list((base / "there").rglob("run.json")) and time.monotonic() < until:
            time.sleep(0.01)
        workers[0].send_signal(signal.SIGKILL)
        assert asked.wait(timeout=120) == 0
    here, there = (next((base / name / "compare").glob("*/*")) for name in ("here", "there"))
    for name in ("runs.csv", "days.csv", "compare.json"):
        assert (here / name).read_bytes() == (there / name).read_bytes()
    assert written(here) == written(there)
    assert len(written(there)) == 4 * 4 * 3


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An address where nobody answers is an input error with what to do."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    monkeypatch.setattr("planner.runs.parallel_calls.ANSWER_S", 1)
    assert run([*COMPARE, *QUICK, "--backend", "dask", "--address", "127.0.0.1:9"]) == 2
    assert "cannot reach a Dask scheduler at 127.0.0.1:9; start one" in capsys.readouterr().err
