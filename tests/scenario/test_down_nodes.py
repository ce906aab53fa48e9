"""Claims about ``cluster.down``: nodes that cannot be used, kept apart from the cluster, every slip in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.domain.situation import Outage
from planner.errors import ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

SITE = """\
jobs: {source: sample}
cluster:
  classes:
    cpu: {count: 10, capacity: {cores: 32}}
    gpu: {count: 2, capacity: {cores: 16, gpus: 4}}
weather: {source: sample}
tariff: {eur_per_kwh: 0.15}
cooling: {table: air.csv}
revenue: {eur_per_core_hour: 0.02}
"""
EIGHT = 1717228800
"""2024-06-01T08:00:00Z."""


def load(folder: Path, down: str, *overrides: str) -> Scenario:
    (folder / "air.csv").write_text("")
    (folder / "site.yaml").write_text(SITE)
    (folder / "test.yaml").write_text(f"base: site\ncluster:\n  down: {down}\n")
    return load_scenario("test", folders=[folder], overrides=overrides)


def problems(folder: Path, down: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load(folder, down)
    return [line.replace(f"{folder}/", "") for line in caught.value.problems]


def test_every_node_has_its_outage(tmp_path: Path) -> None:
    """Sorted by node and time, with the defaults that the table of keys gives, and each once."""
    site = load(
        tmp_path,
        "[{nodes: 'cpu[03-04],gpu1', state: maintenance, from: 2024-06-01T10:00:00+02:00, to: 2024-06-01T08:30:00Z},"
        " {nodes: cpu03}, {nodes: cpu03, state: drain, from: '2024-06-01T08:00:00Z'}, {nodes: cpu03}]",
    )
    assert site.outages == (
        Outage(2, 0, None, "down"),
        Outage(2, EIGHT, EIGHT + 1800, "maintenance"),
        Outage(2, EIGHT, None, "drain"),
        Outage(3, EIGHT, EIGHT + 1800, "maintenance"),
        Outage(10, EIGHT, EIGHT + 1800, "maintenance"),
    )


def test_the_cluster_has_all_its_nodes(tmp_path: Path) -> None:
    """The machine is the same whatever is down; what is down stands in the plain data beside it."""
    whole, broken = load(tmp_path, "[]"), load(tmp_path, "[{nodes: gpu2}]")
    assert whole.cluster == broken.cluster
    assert whole.outages == ()
    plain = broken.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["outages"] == [{"node": 11, "start_unix": 0, "end_unix": None, "state": "down"}]
    assert plain["cluster"] == whole.as_dict()["cluster"]


def test_layers_replace_the_list(tmp_path: Path) -> None:
    """As every list; null takes it away."""
    assert [each.node for each in load(tmp_path, "[{nodes: cpu01}]", "cluster.down=[{nodes: gpu2}]").outages] == [11]
    assert load(tmp_path, "[{nodes: cpu01}]", "cluster.down=null").outages == ()
    assert [each.node for each in load(tmp_path, "[{nodes: cpu01}]", "cluster.classes.gpu=null").outages] == [0]


@pytest.mark.parametrize(
    ("down", "line"),
    [
        ("[{state: down}]", "test.yaml:3: cluster.down[0].nodes: missing; write nodes: cpu001,"),
        (
            "[{nodes: cpu01}, {nodes: cpu11}]",
            "test.yaml:3: cluster.down[1]: there is no node 'cpu11'; nodes of class 'cpu' are cpu01 to cpu10",
        ),
        ("[{nodes: 'cpu[01,01]'}]", "test.yaml:3: cluster.down[0]: node cpu01 is named twice; name it once"),
        ("[{nodes: [cpu01]}]", "test.yaml:3: cluster.down[0].nodes: expected text, found a list"),
        (
            "[{nodes: cpu01, state: up}]",
            "test.yaml:3: cluster.down[0].state: expected one of down, drain, maintenance, found 'up'",
        ),
        ("[{nodes: cpu01, since: 1}]", "test.yaml:3: cluster.down[0].since: unknown key; known here: nodes, state,"),
        (
            "[{nodes: cpu01, from: '2024-06-01T08:00:00'}]",
            "test.yaml:3: cluster.down[0].from: 2024-06-01T08:00:00 has no offset from UTC;"
            " write 2024-06-01T08:00:00+02:00, or end it in Z for UTC",
        ),
        (
            "[{nodes: cpu01, from: 2024-06-01}]",
            "test.yaml:3: cluster.down[0].from: expected a time with its offset from UTC, found 2024-06-01;",
        ),
        (
            "[{nodes: cpu01, to: soon}]",
            "test.yaml:3: cluster.down[0].to: expected a time with its offset from UTC, found 'soon';",
        ),
        (
            "[{nodes: cpu01, to: 2024-06-01T08:00:00.5Z}]",
            "test.yaml:3: cluster.down[0].to: 2024-06-01T08:00:00.500000+00:00 has a fraction of a second; round it",
        ),
        (
            "[{nodes: cpu01, to: 1969-06-01T08:00:00Z}]",
            "test.yaml:3: cluster.down[0].to: expected a time from 1970 to 9998, found 1969-06-01T08:00:00+00:00",
        ),
        (
            "[{nodes: cpu01, from: 2024-06-01T08:00:00Z, to: 2024-06-01T08:00:00Z}]",
            "test.yaml:3: cluster.down[0]: an outage ends at 2024-06-01T08:00:00Z, not after its start at"
            " 2024-06-01T08:00:00Z; correct its times",
        ),
        ("cpu01", "test.yaml:3: cluster.down: expected a list, found 'cpu01'; begin each item with '- '"),
    ],
)
def test_slips(tmp_path: Path, down: str, line: str) -> None:
    """Each is one line with its place."""
    (found,) = problems(tmp_path, down)
    assert found.startswith(line)


@pytest.mark.slow
def test_more_outages_than_any_site_has(tmp_path: Path) -> None:
    """A list may name the whole of a large machine, but not a thousand times."""
    text = "[" + ", ".join(f"{{nodes: 'cpu[000001-200000]', from: 2024-06-0{k}T00:00:00Z}}" for k in range(1, 7)) + "]"
    (tmp_path / "air.csv").write_text("")
    (tmp_path / "site.yaml").write_text(SITE.replace("count: 10,", "count: 200000,").replace("    gpu", "    # gpu"))
    (tmp_path / "big.yaml").write_text(f"base: site\ncluster: {{down: {text}}}\n")
    with pytest.raises(ScenarioError, match=r"down\[5\]: the number of outages is 1,200,000; it must be from 0 to"):
        load_scenario("big", folders=[tmp_path])
