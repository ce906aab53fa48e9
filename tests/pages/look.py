"""What a browser shows, as numbers and colours."""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import Locator, Page

MINUS = "\u2212"


def is_drawn(figure: Locator) -> bool:
    """Whether a figure has more on it than its ground and its grid: colour on over two in a thousand of its pixels."""
    figure.scroll_into_view_if_needed()
    picture = Image.open(io.BytesIO(figure.screenshot())).convert("RGB")
    colours = picture.getcolors(maxcolors=2**24) or []
    strong = sum(count for count, (r, g, b) in colours if max(r, g, b) - min(r, g, b) > 40)
    return strong > 0.002 * picture.width * picture.height


def value(page: Page, key: str) -> float:
    """The exact number behind a number of the page."""
    return float(page.locator(f"data#{key}").get_attribute("value") or "nan")


def cells(page: Page, table: str) -> list[list[str]]:
    """The text of a table's body."""
    script = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText))"
    found: list[list[str]] = page.locator(f"#{table} tbody tr").evaluate_all(script)
    return found


def number(text: str) -> float:
    """The number in a text, whatever its unit."""
    kept = "".join(sign for sign in text.replace(MINUS, "-") if sign.isdigit() or sign in "-.")
    return float(kept)
