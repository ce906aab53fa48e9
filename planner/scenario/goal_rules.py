"""The sections `goal` and `rules` of a scenario: what counts when plans are compared, and what a plan must keep."""

from __future__ import annotations

from typing import Annotated, Literal

from planner import limits
from planner.domain.job import DeferRule
from planner.domain.problem import ExecuteRule
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Whole, Within, Words

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


class Rules(Section):
    """``defer: full`` keeps only what cannot start today; ``free`` lets profit decide.

    A job that was deferred on ``max_deferral_days`` days goes before all others; None: a day after EASY would have
    started it. ``execute: actual`` lets
    jobs end at their real runtime once they are planned. ``max_delay_s`` is the promise to users when jobs are held for
    cheaper hours, ``estimate`` how long planning then thinks that jobs run.
    """

    defer: Annotated[
        DeferRule, Key("word", "`full`: only jobs that cannot start today wait; `free`: profit alone decides")
    ] = "full"
    max_deferral_days: Annotated[
        int | None,
        Whole(limits.DEFERRAL_DAYS),
        Key(
            "days",
            "a job deferred on this many days goes before all others in every ordering",
            default="a day after EASY would have started it; never with `goal.kind: published`",
        ),
    ] = None
    execute: Annotated[
        ExecuteRule,
        Key(
            "word",
            "`requested`: jobs run as long as they asked; `actual`: they end at their real runtime once planned,"
            " and the next day starts from there",
        ),
    ] = "requested"
    max_delay_s: Annotated[
        int | None,
        Duration(limits.MAX_DELAY_S),
        Key(
            "duration",
            "the promise to users: no job is held for cheaper hours for longer than this in all, counted from the first"
            " moment at which the scheduler would have started it; plans say how it was kept",
            default="nothing is held",
        ),
    ] = None
    estimate: Annotated[
        Words,
        Key(
            "word",
            "how long planning thinks that jobs run: `requested`, or a predictor such as `last2`;"
            " `plan show predictors` lists them",
        ),
    ] = "requested"
