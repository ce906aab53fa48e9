"""Runs the commands, and says in short what each printed and wrote: words as they are, tables and pages by their parts.

    python -m tests.as_approved.approve                 what is not as it was approved
    python -m tests.as_approved.approve --write         approve what there is now
    python -m tests.as_approved.approve days --write    approve one group of commands

A part of a file is a column of a table, a key of a JSON document, or a piece of a page. Each has a sum of its content,
so that a change says where it is; `git diff` of the sums shows what a commit changes for its users.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import resource
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from planner.cli.main import run
from tests.as_approved.commands import GROUPS, Step

APPROVED = Path(__file__).parent / "approved"

MASKS = (
    (r'("(?:began|ended|made|solve_s|found_s|wall_s|replay_s|seconds|elapsed_s)": )[^,}\n]+', r'\1"_"'),
    (r"\b\d+\.\d s\b", "_ s"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", "MOMENT"),
    (r"\b20\d{6}T\d{6}Z", "MOMENT"),
    (r'<data value="0\.0\d*">[^<]*</data>', "_"),
)
"""What differs from run to run."""

UNSTABLE = ("versions", "planner", "workers", "outputs", "seal")
"""Keys of JSON documents that differ from machine to machine."""


def approved(group: str) -> Path:
    """Where it is kept what the commands of a group print and write."""
    return APPROVED / f"{group}.txt"


def require_as_approved(group: str) -> None:
    """AssertionError unless a group of commands prints and writes what was approved, to the byte."""
    now = list(lines_now(group))
    before = approved(group).read_text(encoding="utf-8").splitlines()
    gone, new = (sorted(set(one) - set(other)) for one, other in ((before, now), (now, before)))
    words = f"look at it, then: python -m tests.as_approved.approve {group} --write"
    assert (gone, new) == ([], []), words
    assert now == before


def lines_now(group: str) -> Iterator[str]:
    """A line for each part of all that the commands of a group print and write, in a folder of their own.

    Every look at the clock of CPU time is a 64th of a second after the one before.
    """
    width, cpu_s = patch.dict(os.environ, COLUMNS="80"), count(0, 1 / 64)
    clock = patch.object(time, "process_time", lambda: next(cpu_s))
    children = patch.object(resource, "getrusage", lambda who: SimpleNamespace(ru_utime=0.0, ru_stime=0.0))
    with width, clock, children, tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        here = Path.cwd()
        write, steps = GROUPS[group]
        write(here)
        files: Files = {}
        known = _sums(here, files)
        for command, step in steps.items():
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = _taken(step, here)
            yield f"== {command}{f': plan {step}' if isinstance(step, str) else ''}"
            yield f"ends with {code}"
            for printed in (out.getvalue(), err.getvalue()):
                yield from (f"  {line}" for line in _masked(printed, here).splitlines() if line.strip())
            sums = _sums(here, files)
            yield from (f"{part} {value}" for part, value in sums.items() if known.get(part) != value)
            known = sums


def _taken(step: Step, here: Path) -> int:
    """The exit code of a command, or of what else is done."""
    if isinstance(step, str):
        return run(shlex.split(step))
    step(here)
    return 0


def _masked(text: str, here: Path) -> str:
    text = text.replace(str(here), "HERE")
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text


Files = dict[Path, tuple[int, list[tuple[str, str]]]]
"""When a file was changed last, and the sums of its parts."""


def _sums(here: Path, files: Files) -> dict[str, str]:
    """The sum of every part of the first file of each name, and of every other file as a whole."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for path in sorted(here.rglob("*")):
        if path.suffix in PARTS and path.is_file() and "versions" not in path.parts:
            changed = path.stat().st_mtime_ns
            if path not in files or files[path][0] != changed:
                text = _masked(path.read_text(encoding="utf-8"), here)
                files[path] = changed, [(part, _sum(content)) for part, content in PARTS[path.suffix](text)]
            parts, name = files[path][1], path.relative_to(here)
            if path.name in seen:
                found[str(name)] = _sum(str(parts))
            else:
                found |= {f"{name}: {part}": value for part, value in parts}
            seen.add(path.name)
    return found


def _sum(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:10]


def _columns(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    if len(rows) < len(lines):
        yield "remarks", "\n".join(line for line in lines if line.startswith("#"))
    for cells in zip(*csv.reader(rows), strict=True):
        yield cells[0], "\n".join(cells)


def _keys(text: str) -> Iterator[tuple[str, str]]:
    document = json.loads(text)
    for key, value in document.items() if isinstance(document, dict) else [("all", document)]:
        if key not in UNSTABLE:
            yield key, json.dumps(value)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """A page by its headings, tables, figures and scripts."""
    pieces = re.split(r"(?=<(?:h1|h2|h3|table|figure|script|style|footer)\b)", text)
    for number, piece in enumerate(pieces):
        words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", piece)).strip()
        yield (
            f"{number} {piece[1:7].split()[0].strip('>')} {words[:30] if not piece.startswith('<s') else ''}".strip(),
            piece,
        )


def _whole(text: str) -> Iterator[tuple[str, str]]:
    yield "all", text


PARTS = {".csv": _columns, ".json": _keys, ".html": _pieces, ".md": _whole, ".swf": _whole}
"""How a file is taken apart, by the end of its name."""


def main() -> int:
    """Compare, or approve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all if none is named")
    parser.add_argument("--write", action="store_true", help="approve what there is now")
    chosen = parser.parse_args()
    is_same = True
    for group in chosen.groups or GROUPS:
        lines = list(lines_now(group))
        if chosen.write:
            approved(group).write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif other := sorted(set(lines) ^ set(approved(group).read_text(encoding="utf-8").splitlines())):
            is_same = False
            print("\n".join(other))
    return int(not is_same)


if __name__ == "__main__":
    sys.exit(main())
