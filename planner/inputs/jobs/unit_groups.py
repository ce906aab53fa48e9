"""The text form of a job's unit groups: ``3x cores=32 memory_gb=64; 1x cores=4``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from planner.domain.job import UnitGroup
from planner.errors import InputError

_GROUP = re.compile(r"(\d{1,18})\s*x\s+(\S.*)", re.ASCII)
_AMOUNT = re.compile(r"([^\s=;]+)=((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_NAME = re.compile(r"[^\s=;]+")


def parse_unit_groups(text: str, resources: Collection[str]) -> tuple[UnitGroup, ...]:
    """Unit groups from their text; InputError when it cannot be read or names a resource not in the list."""
    return _parse(text, tuple(resources))


@lru_cache(maxsize=4096)
def _parse(text: str, resources: tuple[str, ...]) -> tuple[UnitGroup, ...]:
    """Many jobs of a queue ask the same."""
    return tuple(_parse_group(part.strip(), resources) for part in text.split(";"))


def format_unit_groups(groups: Iterable[UnitGroup]) -> str:
    """Text of unit groups; `parse_unit_groups` gives back exactly the same groups."""
    return _format(tuple(groups))


@lru_cache(maxsize=4096)
def _format(groups: tuple[UnitGroup, ...]) -> str:
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
