"""Claims about ``cluster.classes.<class>.nodes`` and ``cluster.partitions``, and every slip in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

SITE = """\
jobs: {{source: sample}}
cluster:
  classes: {classes}
  partitions: {partitions}
weather: {{source: sample}}
tariff: {{eur_per_kwh: 0.15}}
cooling: {{table: air.csv}}
revenue: {{eur_per_core_hour: 0.02}}
"""
TWO = "{cpu: {count: 2, capacity: {cores: 4}}, gpu: {count: 1, capacity: {cores: 4, gpus: 1}}}"


def load(folder: Path, classes: str = TWO, partitions: str = "{}") -> Scenario:
    (folder / "air.csv").write_text("")
    (folder / "test.yaml").write_text(SITE.format(classes=classes, partitions=partitions))
    return load_scenario("test", folders=[folder])


def problems(folder: Path, classes: str = TWO, partitions: str = "{}") -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load(folder, classes, partitions)
    return [line.replace(f"{folder}/", "") for line in caught.value.problems]


@pytest.mark.parametrize("count", ["", "count: 3, "])
def test_names_count_the_nodes(count: str, tmp_path: Path) -> None:
    """With or without the count, which must agree."""
    site = load(tmp_path, f'{{cpu: {{{count}nodes: "node[01-02],fat1", capacity: {{cores: 4}}}}}}')
    assert [site.cluster.node_name(node) for node in range(3)] == ["node01", "node02", "fat1"]
    assert site.as_dict()["cluster"]["classes"][0]["nodes"] == ["node01", "node02", "fat1"]


def test_a_site_without_names_and_partitions_is_as_it_was(tmp_path: Path) -> None:
    """Results of before are of the same site."""
    cluster = load(tmp_path).as_dict()["cluster"]
    assert set(cluster) == {"classes", "power_limit_w"}
    assert set(cluster["classes"][0]) == {"name", "count", "capacity", "idle_w"}


@pytest.mark.parametrize(
    ("classes", "line"),
    [
        (
            '{cpu: {count: 4, nodes: "n[1-3]", capacity: {cores: 4}}}',
            "cpu.nodes: names 3 nodes, and count is 4; correct",
        ),
        ('{cpu: {nodes: "n[3-1]", count: 1, capacity: {cores: 4}}}', "cpu.nodes: cannot read 'n[3-1]' as nodes; write"),
        ('{cpu: {nodes: "n1,n1", capacity: {cores: 4}}}', "cluster: two nodes are called 'n1'; each needs a name"),
        ("{cpu: {capacity: {cores: 4}}}", "cpu.count: missing; write count: 100"),
    ],
)
def test_slips_in_names(classes: str, line: str, tmp_path: Path) -> None:
    """One line each."""
    (found,) = problems(tmp_path, classes)
    assert line in found


def test_the_order_of_classes_does_not_matter(tmp_path: Path) -> None:
    """The plain class has the first nodes, wherever it stands in the file."""
    turned = "{gpu: {count: 1, capacity: {cores: 4, gpus: 1}}, cpu: {count: 2, capacity: {cores: 4}}}"
    assert load(tmp_path, turned).cluster == load(tmp_path).cluster
    assert [each.name for each in load(tmp_path, turned).cluster.classes] == ["cpu", "gpu"]


def test_partitions(tmp_path: Path) -> None:
    """They are part of the cluster, with their classes."""
    site = load(tmp_path, partitions="{fast: [gpu], any: [cpu, gpu]}")
    assert site.cluster.partitions == {"fast": ("gpu",), "any": ("cpu", "gpu")}
    assert site.as_dict()["cluster"]["partitions"] == {"fast": ["gpu"], "any": ["cpu", "gpu"]}


@pytest.mark.parametrize(
    ("partitions", "line"),
    [
        ("{fast: [gup]}", "test.yaml:4: cluster.partitions.fast: there is no node class 'gup'; did you mean gpu?"),
        ("{fast: []}", "test.yaml:4: cluster.partitions.fast: has no node classes; name at least one"),
        (
            "{fast: gpu}",
            "test.yaml:4: cluster.partitions.fast: expected a list, found 'gpu'; begin each item with '- '",
        ),
    ],
)
def test_slips_in_partitions(partitions: str, line: str, tmp_path: Path) -> None:
    """One line each."""
    assert problems(tmp_path, partitions=partitions) == [line]
