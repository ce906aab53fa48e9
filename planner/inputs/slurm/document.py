"""Opens the JSON that a command of Slurm has written, from a file or straight from the command."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from planner.errors import FileFormatError, InputError
from planner.inputs.slurm.fields import Fields, shown
from planner.printable import one_line
from planner.text_files import read_bytes

MOST_BYTES = 2**30
"""Of a command's output: some 50,000 jobs."""
NOTHING_FOUND = 9003
"""What Slurm 22.05 reports as an error where a list is empty, such as that of the day's jobs."""
_PARSER = re.compile(r"v0\.0\.(\d{1,4})")


@dataclass(frozen=True)
class Answer:
    """What a command has written, and the command for messages."""

    command: str
    output: bytes


Source = Path | str | Answer
"""A file by its name, or a command's answer."""


def content_of(source: Source) -> tuple[str, bytes]:
    """What a source is called in messages, and what it holds."""
    if not isinstance(source, Answer):
        return str(source), read_bytes(source)
    if len(source.output) > MOST_BYTES:
        raise InputError(f"{source.command}: has written more than {MOST_BYTES // 2**20} MB; ask for fewer partitions")
    return source.command, source.output


def read_document(source: Source, key: str, command: str) -> tuple[Fields, tuple[Fields, ...]]:
    """The whole document, and the objects of its list of this name.

    Bytes that are not UTF-8 are replaced: a user's odd job name must not hide the rest of the queue.

    Parameters
    ----------
    source
        Where the JSON is.
    key
        The list that is needed, such as ``jobs``.
    command
        The command that writes such a document, for messages.

    Raises
    ------
    InputError
        It is not JSON, has no such list, or Slurm reports an error in it.
    """
    name, content = content_of(source)
    root = Fields(name, "", _parsed(name, content, command))
    _require_no_errors(root)
    if key not in root.values:
        raise FileFormatError(name, f"has no list '{key}'", remedy=f"expected the output of `{command}`")
    return root, root.children(key)


def parser_number(root: Fields) -> int | None:
    """Number of the version of Slurm's data parser, 42 of ``v0.0.42``; None where it is not said."""
    meta = root.values.get("meta")
    plugin = meta.get("plugin") if isinstance(meta, dict) else None
    if not isinstance(plugin, dict):
        return None
    words = [word for key in ("data_parser", "type") if isinstance(word := plugin.get(key), str)]
    match = _PARSER.search(" ".join(words))
    return None if match is None else int(match[1])


def _parsed(name: str, content: bytes, command: str) -> dict[str, object]:
    remedy = f"expected the output of `{command}`, as it came"
    try:
        document = json.loads(content.decode("utf-8-sig", "replace"), strict=False)
    except RecursionError as error:
        raise FileFormatError(name, "is nested too deeply", remedy=remedy) from error
    except ValueError as error:  # numbers of endless digits too
        raise FileFormatError(name, f"is not JSON ({one_line(str(error), 80)})", remedy=remedy) from error
    if not isinstance(document, dict):
        raise FileFormatError(name, f"holds {shown(document)}, not an object", remedy=remedy)
    return document


def _require_no_errors(root: Fields) -> None:
    """InputError with Slurm's own words when it reports that the list is not all there."""
    for error in root.children("errors"):
        if error.values.get("error_number") == NOTHING_FOUND:
            continue
        words = [str(error.values[key]) for key in ("description", "error") if isinstance(error.values.get(key), str)]
        said = ": ".join(words) or "an error without words"
        raise InputError(
            f"{root.source}: Slurm reports '{one_line(said, 120)}'; repeat the command when that is mended"
        )
