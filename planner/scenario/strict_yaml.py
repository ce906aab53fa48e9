"""YAML without the traps of YAML 1.1, and with the file and line of every value, as the models read them.

Duplicate keys are errors; ``22:00`` without quotes is an error instead of 1320; ``no``, ``yes``, ``on`` and
``off`` are words, only ``true`` and ``false`` are flags; ``1e6`` is a number; ``010`` is an error instead of
8; a date with a time must name its zone. Keys are always text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from planner.errors import FileFormatError
from planner.limits import YAML_CHARACTERS, YAML_DEPTH, YAML_VALUES
from planner.printable import shortened
from planner.text_files import open_text

Scalar = str | int | float | bool | dt.date | dt.datetime | None


@dataclass(frozen=True)
class TextSource:
    """A text that values come from: a file, or an option of the command line.

    Relative paths in it start at ``folder``.
    """

    label: str
    folder: Path
    numbered: bool = True

    @classmethod
    def file(cls, path: Path) -> TextSource:
        """A file, whose relative paths start at its own folder."""
        return cls(str(path), path.parent)


@dataclass(frozen=True)
class Marked:
    """A value with the source and line that it was written in; a mapping entry has the line of its key.

    ``blank`` tells a key with nothing after it from one with a written ``null``.
    """

    value: Scalar | Mapping[str, Marked] | tuple[Marked, ...]
    source: TextSource
    line: int = 1
    blank: bool = False

    @property
    def where(self) -> str:
        """The place as people write it: ``site.yaml:12``."""
        return f"{self.source.label}:{self.line}" if self.source.numbered else self.source.label

    def entries(self) -> Mapping[str, Marked] | None:
        """The entries of a mapping, none for a blank; None when the value is something else."""
        if self.blank:
            return {}
        return self.value if isinstance(self.value, Mapping) else None

    def plain(self) -> object:
        """The value without its marks: dicts, lists and scalars."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [entry.plain() for entry in self.value]
        return self.value


class _Blank:
    """A key with nothing after it: an empty section, and no value for anything else."""

    def __repr__(self) -> str:
        return "None"


BLANK: Final = _Blank()


class Text(str):
    """A text with the folder that it starts at if it is a relative path."""

    __slots__ = ("folder",)
    folder: Path

    @classmethod
    def of(cls, text: str, folder: Path) -> Text:
        made = cls(text)
        made.folder = folder
        return made


def plain(entry: Marked) -> object:
    """An entry without its marks."""
    if entry.blank:
        return BLANK
    if isinstance(entry.value, Mapping):
        return {word: plain(found) for word, found in entry.value.items()}
    if isinstance(entry.value, tuple):
        return [plain(item) for item in entry.value]
    return Text.of(entry.value, entry.source.folder) if isinstance(entry.value, str) else entry.value


def shown(value: object, most: int = 80) -> str:
    """A value in a few words, for a message."""
    if value is None or value is BLANK:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shortened(repr(value), most)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    return "a list" if isinstance(value, list) else "a mapping"


def number_text(value: object) -> str:
    """A number, or text in place of one, as it was written, if that is not too long."""
    return shortened(str(value), 40) if not isinstance(value, int) or abs(value) < 10**40 else "a number far beyond"


def in_full(value: object) -> str:
    """A value that stands where it should not, with all that is in it."""
    try:
        return repr(value)
    except ValueError:  # a number of thousands of digits
        return "a number far beyond"


def read_yaml(path: Path) -> Marked:
    """The contents of a YAML file; FileFormatError with file and line when it cannot be read."""
    with open_text(path) as stream:
        return parse_yaml(stream.read(), TextSource.file(path))


def parse_yaml(text: str, source: TextSource) -> Marked:
    """The value that a YAML text holds; nothing at all is None."""
    if len(text) not in YAML_CHARACTERS:
        raise FileFormatError(source.label, f"more than {YAML_CHARACTERS.high:,} characters", remedy="write it shorter")
    try:
        loader = _StrictLoader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        return Marked(None, source) if node is None else _Marker(source).marked(node)
    except yaml.YAMLError as error:
        if isinstance(error, _TooDeepError):
            raise FileFormatError(source.label, "nested too deeply; write it flatter") from error
        raise _format_error(error, text, source) from error
    except RecursionError as error:
        raise FileFormatError(source.label, "nested too deeply; write it flatter") from error


_YAML = "tag:yaml.org,2002:"

# The first pattern that matches names the tag, so clock times and octal numbers come before numbers.
_PATTERNS = {
    f"{_YAML}null": r"~|null|Null|NULL|",
    f"{_YAML}bool": r"true|True|TRUE|false|False|FALSE",
    "!clock": r"[-+]?\d+(?::\d{1,2})+(?:\.\d*)?",
    "!octal": r"[-+]?0[0-9_]+|[-+]?0o[0-7_]+|[-+]?0b[01_]+",
    f"{_YAML}int": r"[-+]?(?:0x[0-9a-fA-F_]+|\d[0-9_]*)",
    f"{_YAML}float": r"[-+]?(?:\.\d+|\d[0-9_]*(?:\.\d*)?)(?:[eE][-+]?\d+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    f"{_YAML}timestamp": r"\d{4}-\d{2}-\d{2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
    r"[ \t]*(?:[Zz]|[-+]\d{1,2}(?::?\d{2})?)?)?",
    f"{_YAML}merge": r"<<",
}


class _TooDeepError(yaml.YAMLError):
    """Brackets in brackets without end, on which the scanner would spend minutes."""


class _StrictLoader(yaml.SafeLoader):
    """Finds the structure of a text and the tags of its plain scalars by our patterns."""

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Begin a list or mapping in brackets."""
        if self.flow_level not in YAML_DEPTH:
            raise _TooDeepError
        super().fetch_flow_collection_start(token)

    def add_indent(self, column: int) -> bool:
        """Begin a list or mapping that is indented."""
        if len(self.indents) not in YAML_DEPTH:
            raise _TooDeepError
        return bool(super().add_indent(column))


_StrictLoader.yaml_implicit_resolvers = {}
for _tag, _pattern in _PATTERNS.items():
    _StrictLoader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z", re.ASCII), None)


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""Control characters but tabs and line ends, and halves of characters."""


class _Marker:
    """Turns the nodes of one source into marked values."""

    def __init__(self, source: TextSource) -> None:
        self.source = source
        self.open: set[int] = set()
        self.count = 0

    def marked(self, node: yaml.Node, line: int | None = None) -> Marked:
        line = _line(node) if line is None else line
        self.count += 1
        if self.count not in YAML_VALUES or len(self.open) not in YAML_DEPTH:
            # Aliases of aliases make billions of values of a few lines.
            most = f"{YAML_VALUES.high:,} values, {YAML_DEPTH.high} deep"
            raise self._error(node, f"more than {most}", "write it shorter and flatter, with fewer aliases")
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
            return Marked(value, self.source, line, blank=value is None and not node.value)
        if id(node) in self.open:
            raise self._error(node, "an alias refers to what it is part of", "write the value out")
        self.open.add(id(node))
        inner = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._list(node)
        self.open.discard(id(node))
        return Marked(inner, self.source, line)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Marked]:
        self._demand_tag(node, f"{_YAML}map")
        entries: dict[str, Marked] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key is a list or a mapping", "a key must be one word")
            key = self._text(key_node)
            if key_node.tag == f"{_YAML}merge":
                raise self._error(key_node, "the merge key << is not read", "write the keys out")
            if key in entries:
                raise self._error(
                    key_node, f"key {key!r} is given twice, first on line {entries[key].line}", "remove one"
                )
            entries[key] = self.marked(value_node, _line(key_node))
        return entries

    def _list(self, node: yaml.Node) -> tuple[Marked, ...]:
        self._demand_tag(node, f"{_YAML}seq")
        return tuple(self.marked(item) for item in node.value)

    def _demand_tag(self, node: yaml.Node, tag: str) -> None:
        if node.tag != tag:
            raise self._error(node, f"tag {_short(node.tag)} is not read", "remove it")

    def _scalar(self, node: yaml.ScalarNode) -> Scalar:
        text = node.value
        match node.tag.removeprefix(_YAML):
            case "str" | "merge" | "!":
                return self._text(node)
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false"):
                return bool(text.lower() == "true")
            case "int" | "float":
                return self._number(node)
            case "timestamp":
                return self._moment(node)
            case "!clock":
                raise self._error(node, f"{text} would be read as a number", f'quote it: "{text}"')
            case "!octal":
                raise self._error(
                    node, f"{text} is a number in another base", "write it in decimal, or quote it as text"
                )
        raise self._error(node, f"tag {_short(node.tag)} of {text!r} is not read", "remove it")

    def _text(self, node: yaml.ScalarNode) -> str:
        """The text of a scalar, in which escapes may have put what no file or path can hold."""
        text = str(node.value)
        odd = _CONTROL.search(text)
        if odd is not None:
            raise self._error(node, f"character #x{ord(odd[0]):04x} is not allowed", "remove it")
        return text

    def _number(self, node: yaml.ScalarNode) -> int | float:
        text = node.value.replace("_", "").lower()
        try:
            if node.tag == f"{_YAML}int":
                return int(text, 16 if "0x" in text else 10)  # of endless digits a ValueError
            return float(text.replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            raise self._error(node, f"{node.value!r} is not a number", "remove its tag") from None

    def _moment(self, node: yaml.ScalarNode) -> dt.date | dt.datetime:
        text = node.value
        try:
            if len(text) == 10:
                return dt.date.fromisoformat(text)
            moment = dt.datetime.fromisoformat(re.sub(r"(?<=\d)[ \t]+(?=[-+Zz])", "", text.upper()))
        except ValueError:
            raise self._error(
                node, f"{text} is not a date or time", "write 2024-06-01 or 2024-06-01T10:00:00Z"
            ) from None
        if moment.tzinfo is None:
            raise self._error(node, f"{text} has no time zone", f"end it with Z or an offset: {text}+02:00")
        return moment

    def _error(self, node: yaml.Node, problem: str, remedy: str) -> FileFormatError:
        return _located(self.source, problem, _line(node), remedy)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _short(tag: str) -> str:
    return tag.replace(_YAML, "!!")


def _located(source: TextSource, problem: str, line: int | None, remedy: str = "") -> FileFormatError:
    return FileFormatError(source.label, problem, line=line if source.numbered else None, remedy=remedy)


# PyYAML's words for common slips, and what to say instead.
_SLIPS = (
    ("'\\t' that cannot start any token", "a tab is used to indent", "use spaces"),
    ("that cannot start any token", "a value begins with a sign that needs quotes", "quote the value"),
    ("mapping values are not allowed", "a second ': ' on the line, or wrong indentation", "quote the value"),
    ("expected <block end>", "the indentation does not match the lines above", "line up the keys"),
    ("could not find expected ':'", "a key has no ':' after it", "write key: value"),
    ("expected a single document", "a second document (---) begins", "keep one document per file"),
    ("found unexpected end of stream", "a quote or bracket is never closed", "close it"),
    ("expected ',' or ']'", "a list in brackets is not closed", "add the missing ',' or ']'"),
    ("expected ',' or '}'", "a mapping in braces is not closed", "add the missing ',' or '}'"),
)


def _format_error(error: yaml.YAMLError, text: str, source: TextSource) -> FileFormatError:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return _located(source, f"character #x{int(error.character):04x} is not allowed", line, "remove it")
    if not isinstance(error, yaml.MarkedYAMLError):
        return _located(source, f"not YAML: {error}", None)
    found = f"{error.context or ''} {error.problem or ''}".strip()
    mark = error.problem_mark or error.context_mark
    place = None if mark is None else mark.line + 1
    for words, problem, remedy in _SLIPS:
        if words in found:
            return _located(source, problem, place, remedy)
    return _located(source, f"not YAML: {' '.join(found.split())}", place)
