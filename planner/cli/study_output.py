"""What studies that keep their pieces are told and print: rows as JSON, tables for a document or for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.simulate import table_text
from planner.cli.terminal import say, say_json

if TYPE_CHECKING:
    from planner.runs.figures import Row

Tables = Mapping[str, Sequence[Mapping[str, object]]]
"""Rows for a terminal by the title of their table."""


def named_or_all(text: str | None, usual: Sequence[str]) -> list[str]:
    """What was named by commas; all that a study usually has if nothing was."""
    return list(usual) if text is None else [name.strip() for name in text.split(",") if name.strip()]


def show_study(
    document: Path,
    content: Sequence[Row] | Mapping[str, Sequence[Row]],
    titled: Tables,
    *,
    as_json: bool,
    markdown: bool,
) -> None:
    """Print a study in the form asked for; for a terminal with the folder of its files, where its document is."""
    if as_json:
        say_json(content)
    elif markdown:
        say(document.read_text(encoding="utf-8"))
    else:
        for title, table in titled.items():
            say(f"{title}\n{table_text(table)}\n")
        say(document.parent)
