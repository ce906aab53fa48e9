"""A job's units: as a text ``3x cores=32 memory_gb=64; 1x cores=4``, cut from a number of cores, or from a row of a
table."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from planner import limits
from planner.domain.cluster import CORES, Cluster
from planner.domain.job import UnitGroup
from planner.errors import InputError
from planner.inputs.table_cells import Row
from planner.limits import CORE_SCALE, UNIT_CORES
from planner.scenario.jobs_power import Jobs, SlurmJobs

_GROUP = re.compile(r"(\d{1,18})\s*x\s+(\S.*)", re.ASCII)
_AMOUNT = re.compile(r"([^\s=;]+)=((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_NAME = re.compile(r"[^\s=;]+")
MEMORY = "memory_gb"
_Size = tuple[int, Decimal]
"""A number of units, and the cores of each."""


def parse_unit_groups(text: str, resources: Collection[str]) -> tuple[UnitGroup, ...]:
    """Unit groups from their text; InputError when it cannot be read or names a resource not in the list."""
    return _parse(text, tuple(resources))


@lru_cache(maxsize=4096)
def _parse(text: str, resources: tuple[str, ...]) -> tuple[UnitGroup, ...]:
    """Many jobs of a queue ask the same."""
    return tuple(_parse_group(part.strip(), resources) for part in text.split(";"))


@lru_cache(maxsize=4096)
def format_unit_groups(groups: tuple[UnitGroup, ...]) -> str:
    """Text of unit groups; `parse_unit_groups` gives back exactly the same groups."""
    return "; ".join(
        f"{group.count}x " + " ".join(f"{_name(name)}={_amount(amount)}" for name, amount in group.amounts)
        for group in groups
    )


def _parse_group(text: str, resources: Collection[str]) -> UnitGroup:
    match = _GROUP.fullmatch(text)
    if match is None:
        raise InputError(f"cannot read {text!r} as units; write 3x cores=32 memory_gb=64; 1x cores=4")
    amounts: dict[str, float] = {}
    for part in match[2].split():
        amount = _AMOUNT.fullmatch(part)
        if amount is None:
            raise InputError(f"cannot read {part!r} as an amount; write cores=32")
        if amount[1] not in resources:
            raise InputError(f"unknown resource {amount[1]!r}; known are {', '.join(sorted(resources))}")
        if amount[1] in amounts:
            raise InputError(f"{amount[1]} is given twice in {text!r}; give it once")
        amounts[amount[1]] = float(amount[2])
    return UnitGroup.of(int(match[1]), amounts)


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(f"resource {name!r} cannot be written; its name must have no spaces, = or ;")
    return name


def _amount(value: float) -> str:
    return str(int(value)) if value.is_integer() and value < 2**53 else repr(value)


@dataclass(frozen=True)
class UnitShape:
    """How the processors that a trace asks for become units.

    ``unit_cores`` are those of a full unit, usually those of a node; ``core_scale`` is a factor on the cores asked for,
    such as 9600 / 93312 for a machine of another size.
    """

    unit_cores: int
    core_scale: float = 1.0

    def __post_init__(self) -> None:
        UNIT_CORES.require("unit cores", self.unit_cores)
        CORE_SCALE.require("the core scale", self.core_scale)

    def scaled_cores(self, cores: float) -> int:
        """Whole cores after scaling: rounded half up, at least 1."""
        return max(1, math.floor(cores * self.core_scale + 0.5))


def unit_shape_of(choice: Jobs, cluster: Cluster) -> UnitShape:
    """The shape by the ``jobs:`` of a scenario; a full unit has the cores of the plainest node class by default."""
    cores = int(cluster.classes[0].capacity[CORES])
    if isinstance(choice, SlurmJobs):
        return UnitShape(cores)
    return UnitShape(choice.unit_cores or cores, choice.core_scale)


@lru_cache(maxsize=4096)
def cut_cores(cores: int, unit_cores: int, memory_gb_per_core: float = 0.0) -> tuple[UnitGroup, ...]:
    """Units of a job of this many cores: full units of ``unit_cores``, then one with the rest, if any.

    ``memory_gb_per_core`` gives every unit memory in proportion to its cores [GB]; 0 for none.
    """
    full, rest = divmod(cores, unit_cores)
    sizes = ([(full, unit_cores)] if full else []) + ([(1, rest)] if rest else [])
    return tuple(UnitGroup.of(count, {CORES: size, MEMORY: size * memory_gb_per_core}) for count, size in sizes)


def row_units(row: Row, resources: Sequence[str], unit_cores: int) -> tuple[UnitGroup, ...]:
    """Unit groups of the job in a row; ``unit_cores`` are those of a full unit, for a job that gives only its total."""
    if "unit_groups" in row:
        others = [name for name in ("units", *resource_columns(resources)) if name in row]
        if others:
            raise row.error(
                f"columns unit_groups and {', '.join(others)} are both filled",
                "unit_groups says it all; leave the others empty",
            )
        return parse_unit_groups(row.text("unit_groups"), resources)
    sizes = _sizes(row, unit_cores)
    others = [name for name in resources if name != CORES]
    if any(f"last_unit_{name}" in row for name in others):
        sizes = _last_apart(sizes)
    amounts: list[dict[str, Decimal]] = [{CORES: cores} for _, cores in sizes]
    for name in others:
        for amount, share in zip(amounts, _shares(row, name, sizes), strict=True):
            amount[name] = share
    return _merged([count for count, _ in sizes], amounts)


def resource_columns(resources: Collection[str]) -> list[str]:
    """Names of the columns that speak of resources."""
    return [column for name in resources for column in (name, f"{name}_per_unit", f"last_unit_{name}")]


def _sizes(row: Row, unit_cores: int) -> list[_Size]:
    if "cores_per_unit" in row:
        return _given_sizes(row)
    if "cores" not in row:
        raise row.error("the job has no size", "fill cores, or units and cores_per_unit, or unit_groups")
    if "last_unit_cores" in row:
        raise row.error("column last_unit_cores is filled, cores_per_unit is not", "fill both or neither")
    cores = row.whole("cores", limits.UNIT_CORES)
    if "units" in row:
        units = row.whole("units", limits.UNITS)
        if units > cores:
            raise row.bad("units", f"at most one unit for each of the {cores} cores")
        smaller, larger_count = divmod(cores, units)
        sizes = [(larger_count, Decimal(smaller + 1)), (units - larger_count, Decimal(smaller))]
    else:
        full, rest = divmod(cores, unit_cores)
        sizes = [(full, Decimal(unit_cores)), (min(rest, 1), Decimal(rest))]
    return [(count, size) for count, size in sizes if count]


def _given_sizes(row: Row) -> list[_Size]:
    if "units" not in row:
        raise row.error("column cores_per_unit is filled, units is not", "fill units too")
    sizes = [(row.whole("units", limits.UNITS), row.number("cores_per_unit", limits.UNIT_AMOUNT))]
    if "last_unit_cores" in row:
        sizes = [*_last_apart(sizes)[:-1], (1, row.number("last_unit_cores", limits.UNIT_AMOUNT))]
    total = _total(sizes)
    if "cores" in row and row.number("cores", limits.TOTAL_AMOUNT) != total:
        raise row.bad("cores", f"{total.normalize():f}, as units and cores_per_unit say")
    return sizes


def _shares(row: Row, name: str, sizes: Sequence[_Size]) -> list[Decimal]:
    """What each unit of each size asks of a resource."""
    whole_job, each, last = name, f"{name}_per_unit", f"last_unit_{name}"
    if whole_job in row:
        if each in row or last in row:
            raise row.error(
                f"columns {whole_job} and {each if each in row else last} are both filled",
                "give the whole job's amount, or the amount of each unit",
            )
        amount, total = row.number(whole_job, limits.TOTAL_AMOUNT), _total(sizes)
        return [amount * cores / total for _, cores in sizes]
    if last in row and each not in row:
        raise row.error(f"column {last} is filled, {each} is not", "fill both or neither")
    shares = [row.number(each, limits.NODE_AMOUNT) if each in row else Decimal(0)] * len(sizes)
    if last in row:
        shares[-1] = row.number(last, limits.NODE_AMOUNT)
    return shares


def _merged(counts: Sequence[int], amounts: Sequence[dict[str, Decimal]]) -> tuple[UnitGroup, ...]:
    groups: list[UnitGroup] = []
    for count, amount in zip(counts, amounts, strict=True):
        group = UnitGroup.of(count, {name: float(value) for name, value in amount.items()})
        if groups and groups[-1].amounts == group.amounts:
            group = UnitGroup(groups.pop().count + count, group.amounts)
        groups.append(group)
    return tuple(groups)


def _last_apart(sizes: Sequence[_Size]) -> list[_Size]:
    """The same sizes with the very last unit on its own."""
    *before, (count, cores) = sizes
    return [*before, *([(count - 1, cores)] if count > 1 else []), (1, cores)]


def _total(sizes: Sequence[_Size]) -> Decimal:
    return sum((count * cores for count, cores in sizes), start=Decimal(0))
