"""HTML as text: elements, tables that sort, and numbers with their units."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from planner.domain.day_summary import DaySummary
from planner.domain.waits import Waits
from planner.units import distance, is_share


class Html(str):
    """Text that is HTML already; everything else is escaped on its way into a page."""

    __slots__ = ()


Part = str | Html | None | Iterable["Part"]


def el(tag: str, *parts: Part, **attributes: str | int | bool | None) -> Html:
    """An element. ``class_`` is ``class``, other underscores are dashes; False and None leave an attribute out."""
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{html.escape(str(value))}"')
    opening = f"<{' '.join(words)}>"
    if tag in ("meta", "link", "br", "input", "col"):
        return Html(opening)
    return Html(f"{opening}{join(*parts)}</{tag}>")


def join(*parts: Part) -> Html:
    """Parts one after the other."""
    return Html("".join(_texts(parts)))


def _texts(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        if part is None:
            continue
        if isinstance(part, Html):
            yield part
        elif isinstance(part, str):
            yield html.escape(part)
        else:
            yield from _texts(part)


def page_head(title: Part, *words: Part, index: str | None = None, also: Part = None) -> Html:
    """The head of a page: the way to the index of all days, the title, and what stands below it, line by line."""
    crumbs = None if index is None else el("p", el("a", "All days", href=index), class_="crumbs")
    return el("header", crumbs, el("h1", title), [el("p", each, class_="soft") for each in words], also)


def number(value: float | Decimal | None, digits: int = 0, text: Part = None) -> Part:
    """A number as people read it, the exact one in its ``value``; a dash where there is none."""
    if value is None:
        return "–"
    return el("data", plain(float(value), digits) if text is None else text, value=str(value))


def legend(entries: Iterable[tuple[str, str, str | None]]) -> Html:
    """What marks stand for: the colour, the words and the class of each."""
    marks = [el("span", el("i", style=f"--c:var(--{colour})", class_=sign), words) for colour, words, sign in entries]
    return el("span", marks, class_="legend")


def data(name: str, content: Any) -> Html:
    """Data for the page's script; no text in it can end the element."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Html(f'<script type="application/json" id="{html.escape(name)}">{text}</script>')


@cache
def asset(name: str) -> Html:
    """A style sheet or script of this package."""
    return Html(files("planner.pages").joinpath("assets", name).read_text(encoding="utf-8"))


def document(title: str, *body: Part, scripts: Iterable[str] = (), payload: Any = None) -> str:
    """A whole page with the styles and scripts inside; its policy forbids the browser to fetch anything."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("link", rel="icon", href="data:,"),
        el("style", asset("page.css")),
    )
    inside = el(
        "body",
        el("a", "Skip to the content", class_="skip", href="#main"),
        *body,
        data("data", payload) if payload is not None else None,
        [el("script", asset(name)) for name in ("tables.js", *scripts)],
    )
    return f'<!DOCTYPE html>\n<html lang="en">{head}{inside}</html>\n'


COLOURS = 8
"""Runs, accounts and users that have a colour of their own: the style sheet's a0 to a7."""

MINUS = "\u2212"
THIN = "\u202f"
"""A narrow space that does not break, between a number and its unit."""

SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "CHF", "JPY": "¥"}


def plain(value: float, digits: int = 0) -> str:
    """A number with separators and that many decimals; never a negative zero."""
    text = f"{value:,.{digits}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def money(value: float, currency: str, digits: int = 2) -> str:
    """An amount with the sign of its currency, or its code where it has no sign."""
    sign = SIGNS.get(currency, currency)
    text = plain(abs(value), digits)
    below = MINUS if value < 0 and text.strip("0.,") else ""
    return f"{below}{sign}{text}" if len(sign) == 1 else f"{below}{text}{THIN}{sign}"


def signed_money(value: float, currency: str) -> str:
    """A difference in money, with its sign."""
    text = money(value, currency)
    return text if value < 0 or not money(value, "").strip(f"0.,{THIN}") else f"+{text}"


def good_or_bad(more: float, digits: int = 2) -> str | None:
    """The class of a difference of which more is better: neither where none of it is seen."""
    seen = round(more, digits)
    return "good" if seen > 0 else "bad" if seen < 0 else None


def unit(value: float, name: str, digits: int = 0) -> str:
    """A number and its unit."""
    return f"{plain(value, digits)}{THIN}{name}"


def signed_unit(value: float, name: str) -> str:
    """A difference and its unit, with its sign."""
    text = unit(value, name)
    return f"+{text}" if round(value) > 0 else text


def percent(fraction: float, digits: int = 1) -> str:
    """A share in percent."""
    return unit(100 * fraction, "%", digits)


def signed_percent(fraction: float) -> str:
    """A relative difference in percent, with its sign."""
    return ("+" if round(100 * fraction, 1) > 0 else "") + percent(fraction)


def hours(seconds: float) -> str:
    """A duration in hours and minutes."""
    minutes = round(abs(seconds) / 60)
    below = MINUS if seconds < 0 and minutes else ""
    return f"{below}{minutes // 60}:{minutes % 60:02d}{THIN}h"


def wait(waits: Waits | None) -> str:
    """A mean wait in hours and minutes, and how many still wait; a dash where nobody waited."""
    if waits is None or waits.mean_s is None:
        return "–"
    return hours(waits.mean_s) + (f" (of which {plain(waits.still_waiting)} still wait)" if waits.still_waiting else "")


def gap_words(summary: DaySummary) -> str:
    """How near the profit is to the best possible, as proven; rounded up, so that the words never claim too much."""
    if summary.profit_bound_eur is None:
        return "no bound was worked out for this plan"
    return gap_text(summary.profit_bound_eur, summary.profit_gap_fraction, summary.currency)


def gap_text(bound_eur: float, gap: float | None, currency: str) -> str:
    """How near a profit is to its limit."""
    if gap is None:
        return f"no schedule can earn more than {money(bound_eur, currency)}"
    if gap <= 0:
        return "proven: no schedule can earn more"
    far = gap_distance(bound_eur, gap, currency)
    return f"within {far} of the best possible" if is_share(gap) else f"{far} below the best possible"


def gap_distance(bound_eur: float, gap: float, currency: str) -> str:
    """How far a profit is at most below its limit, as a share or in money."""
    return distance(bound_eur, gap, lambda amount: money(amount, currency), THIN)


def counted(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def days_from(count: int, first: object, last: object) -> str:
    """So many days of a range; one day is named once."""
    return f"{counted(count, 'day')} from {first} to {last}" if count > 1 else f"1 day, {first}"


@dataclass(frozen=True)
class Column:
    """A column: its heading, the unit under it, whether it holds numbers, and whether its text may be long.

    ``wrap``: it may break into lines; ``long``: it is whole sentences, which need some room even on a phone.
    """

    title: str
    unit: str = ""
    number: bool = True
    wrap: bool = False
    long: bool = False


def grid(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Part]],
    *,
    foot: Iterable[Sequence[Part]] = (),
    name: str | None = None,
    tall: bool = False,
    sort: bool = True,
) -> Html:
    """A table in a box of its own that scrolls, so that the page never does sideways; ``tall`` limits its height.

    A press on a heading sorts its rows, unless they are of different kinds (``sort`` is False).
    """
    head = el(
        "tr",
        [
            el(
                "th",
                column.title,
                el("small", column.unit) if column.unit else None,
                scope="col",
                class_=_class(column),
            )
            for column in columns
        ],
    )
    table = el(
        "table",
        el("caption", el("span", caption)),
        el("thead", head),
        el("tbody", [_row(columns, row) for row in rows]),
        el("tfoot", [_row(columns, row) for row in foot]) if foot else None,
        id=name,
        data_sort=sort,
    )
    return el(
        "div",
        table,
        class_="scroll tall" if tall else "scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
        style=f"--columns:{len(columns)}",
    )


def _row(columns: Sequence[Column], cells: Sequence[Part]) -> Html:
    first, rest = cells[0], cells[1:]
    return el(
        "tr",
        el("th", first, scope="row", class_=_class(columns[0])),
        [el("td", cell, class_=_class(column)) for column, cell in zip(columns[1:], rest, strict=True)],
    )


def _class(column: Column) -> str | None:
    return "wrap long" if column.long else "wrap" if column.wrap else "n" if column.number else None
