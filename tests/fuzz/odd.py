"""Odd values: numbers, texts and moments that a careless reader trips over."""

from __future__ import annotations

import random

_NUMBERS = (
    "0 -0 -1 1 2 3 7 0.1 -0.5 1e-9 1e-320 1e3 1e6 1e9 1e12 1e15 1e18 1e19 1e30 1e100 1e308 1e400 -1e308 -1e400"
    " nan NaN -nan inf -inf Infinity .inf -.INF .nan 2147483647 2147483648 4294967296 9007199254740993"
    " 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551616"
    " 253402300799 253402300800 99999999999999999999999999999999 0x1F 0x 0b11 0o17 010 1_000 1,5 1.5.2 +5 --5 5- 1e"
    " e5 1e+ .5 5. ٣ １２ Ⅷ ½ 1/3 0/0 1/0 1d 5m 1h30m -1h 1e400h 22:00 1:2:3 true false null ~ NA"
)
NUMBERS = tuple(_NUMBERS.split())
"""As they are written; most formats have their own idea of which are numbers."""

TEXTS = (
    "",
    " ",
    "\t",
    "\x00",
    "a\x00b",
    "\x1b[31mred\x1b[0m",
    "\x07bell\x08\x7f",
    "\x85\x9b31m",
    "right\u202eleft",
    "\u2066isolated\u2069",
    "zero\u200bwidth\u2060",
    "line\nbreak",
    "line\r\nbreak\r",
    "para\u2028graph\u2029",
    "\ufeffmark",
    "quote\"s and 'more'",
    "a,b;c|d",
    "=1+1",
    "../../etc",
    "/",
    ".",
    "..",
    "~root",
    "%s %d {x} {0}",
    "<script>alert(1)</script>",
    "é\u0301\U0001f600",
    "\U0010ffff",
    "\ufffe\uffff",
    "null",
    "None",
    "x" * 299,
    "y" * 5000,
    "ü" * 100_000,
    "cores=1",
    "- a\n- b",
    "{a: [b, c]}",
    "!!python/object:os.system x",
    "&a *a",
    "a\rb",
    "9" * 50_000 + "x",
    " " * 50_000 + "x",
    ":00" * 20_000 + "Z",
    "[/red]",
    "[bold]x",
)

MOMENTS = (
    "10000-01-01T00:00Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "0000-00-00T00:00Z",
    "1969-12-31T23:59:59Z",
    "1677-01-01T00:00Z",
    "2262-05-01T00:00Z",
    "2024-02-30T00:00Z",
    "2024-03-31T02:30:00",
    "2024-03-31T02:30:00+01:00",
    "2024-10-27T02:30:00",
    "2024-06-01",
    "2024-06-01T24:00Z",
    "2024-06-01T25:00Z",
    "2024-06-01T12:00:60Z",
    "2024-06-01T12:00:00.123456789Z",
    "2024-06-01T12:00:00+25:00",
    "2024-06-01T12:00:00+00:00:00.5",
    "2024-06-01T12:00:00 Europe/Paris",
    "2024-W22-6",
    "20240601T120000Z",
    "01/06/2024 12:00",
    "now",
    "-2024-06-01T00:00Z",
    "٢٠٢٤-06-01T00:00Z",
)


def odd_number(rng: random.Random) -> str:
    """A number, or nearly one, as text."""
    if rng.random() < 0.2:
        return str(rng.choice([1, -1]) * rng.getrandbits(rng.choice([8, 31, 53, 63, 64, 65, 200])))
    if rng.random() < 0.1:
        return f"{rng.uniform(-1, 1):.{rng.randrange(18)}f}e{rng.randrange(-330, 330)}"
    return rng.choice(NUMBERS)


def odd_text(rng: random.Random) -> str:
    """Some text that ought to be harmless, and often is not."""
    if rng.random() < 0.15:
        return "".join(chr(rng.choice([rng.randrange(32), rng.randrange(0x2FF), 0x20])) for _ in range(8))
    return rng.choice(TEXTS)


def odd_word(rng: random.Random) -> str:
    """A number, a moment or a text."""
    return rng.choice([odd_number, odd_number, odd_text, lambda r: r.choice(MOMENTS)])(rng)


def odd_value(rng: random.Random, depth: int = 0) -> object:
    """A value as JSON and YAML have them: of any type, also nested."""
    kind = rng.randrange(12)
    if kind < 3:
        return rng.choice([0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, -(10**30), 10**400, 3])
    if kind < 5:
        return rng.choice([0.0, -0.0, 1e-320, 0.5, 1e18, 1e308, -1e308, float("nan"), float("inf"), float("-inf")])
    if kind < 8:
        return odd_word(rng)
    if kind == 8:
        return rng.choice([True, False, None])
    if depth > 3:
        return None
    if kind == 9:
        return [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {odd_word(rng)[:40]: odd_value(rng, depth + 1) for _ in range(rng.randrange(3))}
