"""The section ``budgets`` of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    Field,
)

from planner import limits
from planner.scenario.sections import Key, Named, Section
from planner.scenario.values import Name, Within


class Budgets(Section):
    """What accounts may be billed; it decides nothing, and reports mark 80 and 100 % of it."""

    period: Annotated[
        Literal["month", "year"], Key("word", "how long a budget is for: a calendar `month` or `year`")
    ] = "year"
    accounts: Annotated[
        dict[Name, Annotated[float, Within(limits.BUDGET_EUR)]],
        Named,
        Key(
            "EUR",
            "what an account may be billed in the period; reports mark it from 80 and from 100 % on",
            each="account",
            default="none",
        ),
    ] = Field(default_factory=dict)
