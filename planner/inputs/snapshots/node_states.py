"""Reads nodes that cannot be used from a table, CSV or Parquet: ``node``, ``state``, ``from``, ``to``."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import get_args

from planner import bounds
from planner.domain.cluster import Cluster
from planner.domain.horizon import zone_named
from planner.domain.node_text import parse_node_list
from planner.domain.situation import SINCE_EVER, NodeState, Outage
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.table_rows import Row, read_rows, require_known
from planner.places import document
from planner.scenario.words import guess

COLUMNS = ("node", "state", "from", "to")
ROUNDED_OUTAGE = "fraction of a second of an outage: rounded to a longer one"
_UP = "up"
_STATES = (*get_args(NodeState), _UP)


def read_node_states(
    path: Path | str, cluster: Cluster, repaired: Counter[str], zone: str | None = None
) -> set[Outage]:
    """The outages of a table; a node that is up has none. Times without an offset are of the zone.

    Raises
    ------
    FileFormatError
        A column is unknown or missing, or a cell cannot be; names line, column, value and remedy.
    """
    path = Path(path)
    columns, rows = read_rows(path, zone=None if zone is None else zone_named(zone))
    require_known(path, columns, COLUMNS, document("snapshots.md"))
    for column in ("node", "state"):
        if column not in columns:
            raise FileFormatError(
                path, f"no column {column}", remedy=f"add it; {document('snapshots.md')} lists all columns"
            )
    outages: set[Outage] = set()
    for row in rows:
        outages |= _outages(row, cluster, repaired)
        bounds.OUTAGES.require(f"{path}: the number of outages", len(outages))
    return outages


def _outages(row: Row, cluster: Cluster, repaired: Counter[str]) -> set[Outage]:
    for column in ("node", "state"):
        if column not in row:
            raise row.error(f"column {column} is empty", "fill it")
    word = row.text("state").strip().lower()
    start, end = _times(row, repaired)
    try:
        nodes = parse_node_list(row.text("node"), cluster)
        for state in get_args(NodeState):
            if word == state:
                return {Outage(node, start, end, state) for node in nodes}
    except InputError as error:
        raise row.error(str(error), "") from error
    if word != _UP:
        raise row.bad("state", f"{', '.join(_STATES[:-1])} or {_UP}", guess(word, _STATES) or "correct the value")
    return set()


def _times(row: Row, repaired: Counter[str]) -> tuple[int, int | None]:
    """Start and end in whole seconds, with all of the time that the row says."""
    start = row.moment("from") if "from" in row else None
    end = row.moment("to") if "to" in row else None
    if any(each is not None and each != int(each) for each in (start, end)):
        repaired[ROUNDED_OUTAGE] += 1
    return SINCE_EVER if start is None else math.floor(start), None if end is None else math.ceil(end)
