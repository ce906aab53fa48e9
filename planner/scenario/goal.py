"""The section ``goal`` of a scenario: what counts when plans are compared."""

from __future__ import annotations

from typing import Annotated, Literal

from planner import limits
from planner.scenario.sections import Key, Section
from planner.scenario.values import Within

GoalKind = Literal["whole", "published"]
"""What is maximised: the outlook of a day with its waits, or the profit of the calendar day."""


class Goal(Section):
    """What counts when plans are compared; what is not money is no part of the money."""

    kind: Annotated[
        GoalKind,
        Key(
            "word",
            "`whole`: the profit until all known jobs have run, less what their waiting counts; `published`: the profit"
            " of the calendar day, as in the published study",
        ),
    ] = "whole"
    later: Annotated[
        float | None,
        Within(limits.FRACTION),
        Key(
            "part",
            "what a euro that is earned after the day counts: 1 where the queue empties, 0 on an overloaded machine"
            " (one of tomorrow half at least)",
            default="by the work that came in on the last seven days and the work that waits",
        ),
    ] = None
    carbon_weight: Annotated[
        float,
        Within(limits.EUR_PER_TONNE),
        Key("EUR per tonne", "what a tonne of CO2 counts when plans are compared, besides its price"),
    ] = 0.0
    waiting: Annotated[
        float | None,
        Within(limits.EUR_PER_WAITING_HOUR),
        Key(
            "EUR per hour",
            "what an hour of waiting of one job counts, in plans and when jobs are held for cheaper hours",
            default="2 % of what the energy of the mean job costs (`hold.waiting_fraction`); in plans of an overloaded"
            " machine half as much, of the mean job of the last week, and more if jobs would wait longer than under"
            " EASY",
        ),
    ] = None
    carbon_limit_kg: Annotated[
        float | None,
        Within(limits.CARBON_KG),
        Key("kg", "what a day should emit at most, with the whole runs of what starts on it", default="no limit"),
    ] = None
