"""The nodes that a job of a table may run on: its partitions and its node classes."""

from __future__ import annotations

from planner.domain.cluster import Cluster
from planner.errors import InputError
from planner.inputs.jobs.table_rows import Row

CLASS_COLUMNS = ("partition", "node_class")


def row_classes(row: Row, cluster: Cluster | None) -> tuple[str, ...]:
    """Node classes that the job of a row may run on, empty for all; without a cluster there are none to choose from."""
    if cluster is None or not any(column in row for column in CLASS_COLUMNS):
        return ()
    partitions, classes = (_names(row, column) for column in CLASS_COLUMNS)
    try:
        return cluster.allowed_classes(partitions, classes)
    except InputError as error:
        raise row.error(str(error), "") from error


def _names(row: Row, column: str) -> list[str]:
    names = [name.strip() for name in row.words(column).split(",")] if column in row else []
    if "" in names:
        raise row.bad(column, "names with commas between them")
    return names
