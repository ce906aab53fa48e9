"""HTML put together from parts, where text is escaped unless it was made here."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any


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
