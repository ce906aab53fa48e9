"""Wraps long lines of Markdown at 120 characters: paragraphs and items of lists; tables, code, headings and links stay.

python website/wrap.py docs/search.md ...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WIDTH = 120
KEPT = re.compile(r"\s*(\||#|```|<|!\[|\[[^\]]+\]:)|    |$")
"""Lines that are never touched: tables, headings, fences, HTML, pictures, references, code, and empty ones."""
ITEM = re.compile(r"(\s*)((?:[-*+]|\d+\.)\s+)?")
WORD = re.compile(r"`[^`]*`[^\s`]*|!?\[[^\]]*\]\([^)]*\)\S*|\S+")
"""What is not broken: code, a link with what follows it, or a word."""
MARK = re.compile(r"[-*+>|]|\d+\.|#+")
"""Words that no line may begin with: they would make a list, a heading or a table of it."""


def wrapped(text: str) -> str:
    """The text with long lines wrapped, each paragraph that has one anew."""
    lines, block, in_code = list[str](), list[str](), False
    for line in [*text.split("\n"), ""]:
        is_fence = line.lstrip().startswith("```")
        begins = in_code or is_fence or (KEPT.match(line) is not None and not _goes_on(line, block))
        if begins or (block and ITEM.match(line)[2]):  # type: ignore[index]
            lines += _block(block)
            block = []
        if begins:
            lines.append(line)
        else:
            block.append(line)
        in_code ^= is_fence
    return "\n".join(lines[:-1])


def _goes_on(line: str, block: list[str]) -> bool:
    """Whether an indented line is part of an item of a list, and no code."""
    return bool(block) and bool(line.strip()) and not re.match(r"\s*(\||#|<|!\[)", line)


def _block(block: list[str]) -> list[str]:
    """A paragraph or item of a list; as it stands where it has no long line."""
    if not block or max(map(len, block)) <= WIDTH:
        return block
    lead = ITEM.match(block[0])
    assert lead is not None
    first = lead[0]
    indent = " " * len(first)
    words = WORD.findall(" ".join([block[0][len(first) :], *block[1:]]))
    lines, line = [], first
    for word in words:
        is_full = len(line) + 1 + len(word) > WIDTH and not MARK.fullmatch(word)
        if line.strip() and line != first and is_full:
            lines.append(line)
            line = indent + word
        else:
            line += word if line in (first, indent) else f" {word}"
    return [*lines, line]


def main(names: list[str]) -> int:
    """Wrap files in place, and say which have changed."""
    for name in names:
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = wrapped(before)
        if " ".join(after.split()) != " ".join(before.split()):
            print(f"{name}: its words would change; left as it is", file=sys.stderr)
            return 1
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
