"""The ``cluster:`` of a scenario: classes of nodes, the power limit, and nodes that cannot be used; and its ``slurm:``.

The latter says where Slurm is read, what of it is planned, and what may be set in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from planner import limits
from planner.domain.cluster import CORES, Cluster, IdleRule, NodeClass, plainest_first
from planner.domain.node_lists import expanded, parse_node_list
from planner.domain.situation import SINCE_EVER, NodeState, Outage, outage_key
from planner.errors import InputError
from planner.scenario.sections import Key, Named, Section
from planner.scenario.values import Duration, Moment, Name, Several, Whole, Within, Words, existing_folder, problem
from planner.scenario.words import guess


class Sleep(Section):
    """When nodes without work sleep; only those of classes with ``sleep_w`` do."""

    after_s: Annotated[
        int,
        Duration(limits.NODE_SLEEP_S),
        Key("duration", "a node sleeps after so long without work, as Slurm's SuspendTime", default="`0s`"),
    ] = 0
    wake_s: Annotated[
        int,
        Duration(limits.NODE_SLEEP_S),
        Key(
            "duration",
            "what it takes to wake up, at its idle power; it is awake when its next job starts",
            default="`0s`",
        ),
    ] = 0


def _with_cores(capacity: dict[str, float]) -> dict[str, float]:
    if not capacity.get(CORES, 0) > 0:
        raise problem("no cores", "write cores: 32")
    return capacity


class Nodes(Section):
    """One class of nodes as written; ``capacity`` is per node."""

    count: Annotated[
        int,
        Whole(limits.NODES),
        Key(
            "nodes",
            "nodes of the class; the class's name begins their names",
            default="required unless `nodes` is given",
            example="100",
        ),
    ]
    nodes: Annotated[
        Words | None,
        Key("node names", "the nodes by name, such as `node[01-08],fat1`", default="the class's name and a number"),
    ] = None
    capacity: Annotated[
        dict[Name, Annotated[float, Within(limits.NODE_AMOUNT)]],
        Named,
        AfterValidator(_with_cores),
        Key(
            "amount per node",
            "such as `cores`, `memory_gb`, `gpus`; any other name works if jobs ask for it."
            " Nodes of the plainest classes are tried first",
            default="`cores` required",
            example="{cores: 32, memory_gb: 128}",
            each="resource",
        ),
    ]
    idle_w: Annotated[float, Within(limits.IDLE_W), Key("W per node", "draw of a node on which nothing runs")] = 0.0
    sleep_w: Annotated[
        float | None,
        Within(limits.IDLE_W),
        Key("W per node", "draw of a node that is off for want of work, at most `idle_w`", default="it stays on"),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, value: object) -> object:
        """Where nodes are named, their names say how many there are."""
        if isinstance(value, dict) and isinstance(value.get("nodes"), str) and value.get("count") is None:
            with suppress(InputError):
                return value | {"count": len(expanded(value["nodes"]))}
        return value

    @field_validator("nodes")
    @classmethod
    def _as_many(cls, nodes: str | None, info: ValidationInfo) -> str | None:
        """Names that can be read, as many as there are nodes; where the count is wrong, that is reported instead."""
        if nodes is None:
            return None
        try:
            names = len(expanded(nodes))
        except InputError as error:
            raise problem(str(error)) from None
        count = info.data.get("count", names)
        if count != names:
            raise problem(f"names {names:,} nodes, and count is {count:,}", "correct one of them, or leave count out")
        return nodes

    def names(self) -> tuple[str, ...]:
        """The names of the nodes; none where they follow from the class."""
        return () if self.nodes is None else expanded(self.nodes)


def _apart(classes: dict[str, Nodes]) -> dict[str, Nodes]:
    """Names of nodes begin with those of their classes, and none may be the same."""
    pairs = [
        f"{short!r} and {long!r}"
        for short, long in combinations(sorted(name for name, each in classes.items() if each.nodes is None), 2)
        if long.removeprefix(short).isdigit()
    ]
    if pairs:
        raise problem(f"nodes of {', of '.join(pairs)} could have the same names", "rename one")
    return classes


class DownNodes(Section):
    """Nodes that cannot be used, from a moment until another."""

    nodes: Annotated[
        Words,
        Key(
            "node names",
            "nodes that cannot be used, such as `cpu[001-004,007]`",
            example="cpu001",
        ),
    ]
    state: Annotated[
        NodeState,
        Key("word", "`down`, `maintenance`: nothing runs there; `drain`: what runs there may end, nothing new starts"),
    ] = "down"
    start_unix: Annotated[
        int, Moment(limits.UNIX_S), Field(alias="from"), Key("time", "since when, with offset", default="since ever")
    ] = SINCE_EVER
    end_unix: Annotated[
        int | None,
        Moment(limits.UNIX_S),
        Field(alias="to"),
        Key("time", "until when, with offset", default="until further notice"),
    ] = None

    def outages(self, cluster: Cluster) -> list[Outage]:
        """One for each node; InputError when the nodes or times cannot be."""
        nodes = parse_node_list(self.nodes, cluster)
        return [Outage(node, self.start_unix, self.end_unix, self.state) for node in nodes]


class ClusterSection(Section):
    """The machine as written; it is read as a Cluster."""

    power_limit_kw: Annotated[
        float | None,
        Within(limits.POWER_LIMIT_KW),
        Key("kW", "limit on the power of all running jobs together"),
    ] = None
    classes: Annotated[
        dict[Name, Nodes],
        Named,
        AfterValidator(_apart),
        Key("", "", example="{cpu: {count: 100, capacity: {cores: 32}}}", each="class"),
    ]

    partitions: Annotated[
        dict[Name, tuple[Name, ...]],
        Named,
        Key(
            "node classes",
            "node classes of a name under which jobs ask for nodes (column `partition`), such as `[cpu, gpu]`",
            default="none",
            each="partition",
        ),
    ] = Field(default_factory=dict)

    sleep: Sleep = Sleep()
    down: tuple[DownNodes, ...] = ()

    @field_validator("partitions")
    @classmethod
    def _of_known_classes(
        cls, partitions: dict[str, tuple[str, ...]], info: ValidationInfo
    ) -> dict[str, tuple[str, ...]]:
        """Classes that exist; where the classes themselves are wrong, that is reported instead."""
        known = info.data.get("classes", {})
        for name, members in partitions.items():
            unknown = next((each for each in members if known and each not in known), None)
            if unknown is not None:
                raise problem(f"there is no node class {unknown!r}", guess(unknown, known), at=name)
            if not members:
                raise problem("has no node classes", "name at least one", at=name)
        return partitions

    @field_validator("down")
    @classmethod
    def _of_the_classes(cls, down: tuple[DownNodes, ...], info: ValidationInfo) -> tuple[DownNodes, ...]:
        """Nodes that exist; where the classes themselves are wrong, that is reported instead."""
        try:
            cluster = Cluster(_node_classes(info.data["classes"]))
        except (KeyError, InputError):
            return down
        count = 0
        for index, each in enumerate(down):
            try:
                count += len(each.outages(cluster))
                limits.OUTAGES.require("the number of outages", count)
            except InputError as error:
                raise problem(str(error), at=f"[{index}]") from None
        return down

    def cluster(self) -> Cluster:
        """The cluster that the classes make."""
        limit_w = None if self.power_limit_kw is None else self.power_limit_kw * 1000
        try:
            rule = IdleRule(after_s=self.sleep.after_s, wake_s=self.sleep.wake_s)
            return Cluster(_node_classes(self.classes), limit_w, self.partitions, rule)
        except InputError as error:
            raise problem(str(error)) from None

    def outages(self) -> tuple[Outage, ...]:
        """The nodes that cannot be used, each once for each stretch of time."""
        cluster = self.cluster()
        found = {outage for each in self.down for outage in each.outages(cluster)}
        return tuple(sorted(found, key=outage_key))


def _node_classes(classes: Mapping[str, Nodes]) -> tuple[NodeClass, ...]:
    """The classes in the order in which their nodes are tried, whatever the order in the file."""
    return plainest_first(
        NodeClass(name, each.count, each.capacity, each.idle_w, each.names(), each.sleep_w)
        for name, each in classes.items()
    )


class WrittenAsSection:
    """Marks a Cluster that is written as a `ClusterSection`."""

    section = ClusterSection

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(ClusterSection.cluster, handler.generate_schema(ClusterSection))


LIVE = Path("live")
"""Stands for Slurm itself, as it is at the moment of planning."""


class OptInSection(Section):
    """Whose begin times may be set: one of the three is enough; nobody by default."""

    partitions: Annotated[Several, Key("names", "jobs that may run in these partitions only")] = ()
    qos: Annotated[Several, Key("names", "jobs of these QOS")] = ()
    comment: Annotated[Several, Key("words", "jobs with one of these words in their comment")] = ()


class SlurmSection(Section):
    """How the site's Slurm is read and written."""

    documents: Annotated[
        Path,
        BeforeValidator(existing_folder("live", LIVE)),
        WithJsonSchema({"type": "string"}),
        Key("`live` or folder", "with `jobs.source: slurm`: Slurm as it is now, or what `plan slurm snapshot` saved"),
    ] = LIVE
    partitions: Annotated[Several, Key("names", "partitions whose nodes and jobs are planned", default="all")] = ()
    idle_w: Annotated[
        float, Within(limits.IDLE_W), Key("W per node", "draw of a node of Slurm on which nothing runs")
    ] = 0.0
    sleep_w: Annotated[
        float | None,
        Within(limits.IDLE_W),
        Key("W per node", "draw of a node of Slurm that is off for want of work", default="it stays on"),
    ] = None
    opt_in: OptInSection = OptInSection()
    tell: Annotated[
        Literal["admin_comment", "comment", "nobody"],
        Key(
            "`admin_comment`, `comment` or `nobody`",
            "where a held job says until when, why, and its latest start; the first needs an administrator of Slurm",
        ),
    ] = "admin_comment"
    keep_days: Annotated[
        int,
        Whole(limits.KEEP_DAYS),
        Key("days", "for how long all versions of planned days are kept; later only the first and the last"),
    ] = 7

    @property
    def is_live(self) -> bool:
        """Whether Slurm itself is asked."""
        return self.documents == LIVE
