"""The commands of the documents: found in their text, and run as a reader would run them.

A tutorial is a list of steps, from its first line to its last: files to write (a fence with ``title="path"``) and
commands to type (a fence of ``console``, each after ``$``) with what they print. Other documents have commands in
indented blocks, with two spaces or more before a word of explanation.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.test_architecture import PACKAGE

ROOT = PACKAGE.parent
TUTORIALS = sorted((ROOT / "docs").glob("tutorial-*.md"), key=lambda path: path.stem != "tutorial-first-site")
"""The one that a newcomer begins with comes first."""

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "scenarios/README.md", "tables/README.md")),
    ROOT / "planner/site/templates/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
"""Every document that is written by hand."""

_FENCE = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(
    r"^ {4,}(?:\$ )?((?:plan|make|python|pip|sacct|systemctl|scontrol|sbatch|GOLDEN=\w+|pytest|ruff|mypy) .*)$",
    re.MULTILINE,
)
_INLINE = re.compile(r"(?<!`)`(plan [a-z-][^`\n]*)`(?!`)")
_FIGURE = re.compile(r"[+-]?\d[\d,]*[.,]\d+|\d+(?= (?:h|min|s)\b)")
"""Figures that a new version of a package, or a better search, may change: those with a point, and times."""


@dataclass(frozen=True)
class Typed:
    """A command of a tutorial, with what is shown below it."""

    command: str
    shown: str


@dataclass(frozen=True)
class Written:
    """A file that a tutorial has its reader write."""

    path: str
    text: str


def steps(document: Path) -> Iterator[Typed | Written]:
    """The steps of a tutorial, in order."""
    for fence in _FENCE.finditer(document.read_text("utf-8")):
        if fence["title"]:
            yield Written(fence["title"], fence["text"])
        elif fence["kind"] == "console":
            for part in re.split(r"^\$ ", fence["text"], flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield Typed(command, shown)


def commands(document: Path) -> list[str]:
    """The commands in the indented blocks of a document, without what explains them."""
    found = _INDENTED.findall(re.sub(r"\\\n\s*", "", document.read_text("utf-8")))
    return [re.split(r"\s{2,}| \[", line.strip())[0] for line in found]


def inline_commands(document: Path) -> list[str]:
    """The commands within sentences, that have more words than the name of the program."""
    return _INLINE.findall(document.read_text("utf-8"))


def prints(shown: str, printed: str) -> bool:
    """Whether a command prints what is shown: the same words in the same lines, with ``...`` for anything.

    Figures with a point may differ, and so do spaces.
    """
    lines = (" ".join(line.split()) for line in shown.splitlines())
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else _pattern(line) + r"\n" for line in lines if line)
    text = "".join(" ".join(line.split()) + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, text) is not None


def _pattern(line: str) -> str:
    parts = (re.escape(part).replace(r"\.\.\.", ".*") for part in _FIGURE.split(line))
    return r"[+-]?[\d,.]+".join(parts)


def follow(document: Path, folder: Path, programs: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Do what a tutorial says, in an empty folder, with the ``plan`` of a folder of programs.

    AssertionError for a command that fails, or that prints something else than is shown.
    """
    known = {"PATH": f"{programs}:{environment['PATH']}", "COLUMNS": "140", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    for step in steps(document):
        if isinstance(step, Written):
            (folder / step.path).write_text(step.text, encoding="utf-8")
        elif step.command.startswith("cd "):
            folder = folder / step.command.removeprefix("cd ")
            assert folder.is_dir(), f"{document.name}: {step.command}"
        else:
            done = subprocess.run(
                ["bash", "-c", step.command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                cwd=folder,
                env={**environment, **known},
                timeout=600,
            )
            told = f"{document.name}: $ {step.command}\n{done.stdout}"
            assert done.returncode == 0, told
            assert prints(step.shown, done.stdout), f"{told}\nbut the document shows\n{step.shown}"
