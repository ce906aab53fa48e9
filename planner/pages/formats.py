"""Numbers as people read them: money, energy, power, shares and times, each with its unit."""

from __future__ import annotations

from planner.domain.day_summary import DaySummary
from planner.domain.gap import distance, is_share

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


def unit(value: float, name: str, digits: int = 0) -> str:
    """A number and its unit."""
    return f"{plain(value, digits)}{THIN}{name}"


def signed_unit(value: float, name: str, digits: int = 0) -> str:
    """A difference and its unit, with its sign."""
    text = unit(value, name, digits)
    return f"+{text}" if round(value, digits) > 0 else text


def percent(fraction: float, digits: int = 1) -> str:
    """A share in percent."""
    return unit(100 * fraction, "%", digits)


def signed_percent(fraction: float) -> str:
    """A relative difference in percent, with its sign."""
    return ("+" if fraction > 0 else "") + percent(fraction)


def hours(seconds: float) -> str:
    """A duration in hours and minutes."""
    minutes = round(abs(seconds) / 60)
    below = MINUS if seconds < 0 and minutes else ""
    return f"{below}{minutes // 60}:{minutes % 60:02d}{THIN}h"


def wait(seconds: float | None) -> str:
    """A wait in hours and minutes; a dash where nobody waited."""
    return "–" if seconds is None else hours(seconds)


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


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
