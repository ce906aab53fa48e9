"""The section ``rules`` of a scenario: what a plan must keep."""

from __future__ import annotations

from typing import Annotated

from planner import limits
from planner.domain.job import DeferRule
from planner.domain.problem import ExecuteRule
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Whole, Words


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
