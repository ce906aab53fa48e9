"""Reads Slurm's accounts from whatever sacct has written: JSON, or text with ``|`` between its columns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

from planner.inputs.slurm.accounting import Accounts, read_accounting
from planner.inputs.slurm.document import Answer, Source, content_of
from planner.inputs.slurm.sacct_text import read_sacct_text
from planner.text_files import read_bytes


def read_accounts(source: Source, zone: ZoneInfo) -> tuple[Accounts, Counter[str]]:
    """Every job of the output of ``sacct --json`` or ``sacct --parsable2``, and what was repaired, by reason.

    ``zone`` is that of local times, which only the text has.
    """
    name, content = content_of(source)
    if _is_json(content):
        return read_accounting(Answer(name, content)), Counter()
    return read_sacct_text(Answer(name, content), zone)


def holds_accounts(path: Path) -> bool:
    """Whether sacct has written a file, and not somebody a table."""
    if path.suffix.lower() == ".parquet":
        return False
    content = read_bytes(path)
    return _is_json(content) or b"|" in content.partition(b"\n")[0]


def _is_json(content: bytes) -> bool:
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
