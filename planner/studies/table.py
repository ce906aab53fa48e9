"""A table of a study, for its page and for a document."""

from __future__ import annotations

from dataclasses import dataclass

from planner.pages.markup import MINUS, THIN, Column, Html, grid


@dataclass(frozen=True)
class Table:
    """A table in words: a title, columns, and rows of text."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def html(self) -> Html:
        """As part of a page."""
        return grid(self.title, self.columns, self.rows)

    def plain_rows(self) -> list[dict[str, object]]:
        """As rows for a terminal, whose headings differ: those without one get spaces, those that repeat a number."""
        heads: list[str] = []
        for place, column in enumerate(self.columns):
            title = column.title or " " * (place + 1)
            heads.append(title if title not in heads else f"{title} {place + 1}")
        lines = [[cell.replace(THIN, " ").replace(MINUS, "-") for cell in row] for row in self.rows]
        return [dict(zip(heads, line, strict=True)) for line in lines]

    def markdown(self) -> str:
        """As part of a document; its spaces are plain ones, so that a terminal can print it."""
        heads = [f"{each.title} [{each.unit}]" if each.unit else each.title for each in self.columns]
        rule = ["---:" if each.number else "---" for each in self.columns]
        lines = ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines]).replace(THIN, " ")
