"""Text that is safe to print: nothing in it moves the cursor, changes colours or hides what follows."""

from __future__ import annotations

import json

LONGEST_LINE = 300
"""Characters of a line about something wrong; what is longer hides what matters."""


def is_text(text: str) -> bool:
    """Whether UTF-8 can write the text: not so with the bytes of odd file names, or with halves of characters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    r"""The text with every character that cannot be seen written out, such as ``\x1b``; line breaks too."""
    if text.isprintable():
        return text
    return "".join(_escaped(each) for each in text)


def printable_json(text: str) -> str:
    """The same for JSON, whose own escapes are used; line breaks between values stay."""
    return "\n".join(line if line.isprintable() else _escaped_json(line) for line in text.split("\n"))


def shortened(text: str, most: int = LONGEST_LINE) -> str:
    """The text with its middle left out where it is too long: the start says where, the end what to do."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def one_line(text: str, most: int = LONGEST_LINE) -> str:
    """The text on one printable line of at most this many characters."""
    return shortened(printable(text), most)


def _escaped_json(line: str) -> str:
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
