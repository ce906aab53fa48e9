"""Tables of a page: a header, rows, and columns of numbers set to the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.pages.markup import Html, Part, el


@dataclass(frozen=True)
class Column:
    """A column: its heading, the unit under it, whether it holds numbers, and whether its text may be long.

    ``wrap``: it may break into lines; ``long``: it is whole sentences, which need some room even on a phone.
    """

    title: str
    unit: str = ""
    number: bool = True
    wrap: bool = False
    long: bool = False


def grid(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Part]],
    *,
    foot: Iterable[Sequence[Part]] = (),
    name: str | None = None,
    tall: bool = False,
    sort: bool = True,
) -> Html:
    """A table in a box of its own that scrolls, so that the page never does sideways; ``tall`` limits its height.

    A press on a heading sorts its rows, unless they are of different kinds (``sort`` is False).
    """
    head = el(
        "tr",
        [
            el(
                "th",
                column.title,
                el("small", column.unit) if column.unit else None,
                scope="col",
                class_=_class(column),
            )
            for column in columns
        ],
    )
    table = el(
        "table",
        el("caption", el("span", caption)),
        el("thead", head),
        el("tbody", [_row(columns, row) for row in rows]),
        el("tfoot", [_row(columns, row) for row in foot]) if foot else None,
        id=name,
        data_sort=sort,
    )
    return el(
        "div",
        table,
        class_="scroll tall" if tall else "scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
        style=f"--columns:{len(columns)}",
    )


def _row(columns: Sequence[Column], cells: Sequence[Part]) -> Html:
    first, rest = cells[0], cells[1:]
    return el(
        "tr",
        el("th", first, scope="row", class_=_class(columns[0])),
        [el("td", cell, class_=_class(column)) for column, cell in zip(columns[1:], rest, strict=True)],
    )


def _class(column: Column) -> str | None:
    return "wrap long" if column.long else "wrap" if column.wrap else "n" if column.number else None
