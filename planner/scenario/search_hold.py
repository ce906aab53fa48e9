"""The sections `search` and `hold` of a scenario: how methods search, and how jobs are held for cheaper hours."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner import limits
from planner.defaults import LOOKAHEAD_DAYS
from planner.domain.method_params import DelayParams, HarvestParams, HoldParams, RelaxationParams, SearchParams
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Flag, InputFile, Whole, Within


class Harvest(Section):
    """Parameters of HarvestSearch."""

    tier_share: Annotated[
        float,
        Within(limits.FRACTION),
        Key("fraction", "largest part of the effort that goes into tiered orders; 0 leaves them out"),
    ] = HarvestParams.tier_share
    rebuilds: Annotated[Flag, Key("true or false", "whether the plan is rebuilt piece by piece after that")] = (
        HarvestParams.rebuilds
    )
    meetings: Annotated[
        int,
        Whole(limits.MEETINGS),
        Key("number", "how often its two chains meet, and the one behind goes on from the best plan"),
    ] = HarvestParams.meetings
    heat: Annotated[
        float,
        Within(limits.FRACTION),
        Key(
            "fraction",
            "first temperature, as a part of the day's revenue: worse plans by about that much are kept"
            " at first; it falls to nothing",
        ),
    ] = HarvestParams.heat
    largest: Annotated[int, Whole(limits.STEP_JOBS), Key("jobs", "most jobs that a step of rebuilding takes out")] = (
        HarvestParams.largest
    )
    guests: Annotated[int, Whole(limits.STEP_JOBS), Key("jobs", "most waiting jobs that compete with them")] = (
        HarvestParams.guests
    )


class Delay(Section):
    """Parameters of DelaySearch."""

    step_s: Annotated[
        int,
        Duration(limits.DELAY_STEP_S),
        Key("duration", "how far a job is pushed at a time", default="`1h`"),
    ] = DelayParams.step_s


class Relaxation(Section):
    """Parameters of RelaxationSearch."""

    whole_day: Annotated[
        int,
        Whole(limits.ENGINE_JOBS),
        Key("jobs", "a day of at most this many jobs is given to the engine whole"),
    ] = RelaxationParams.whole_day
    part: Annotated[
        int,
        Whole(limits.PART_JOBS),
        Key("jobs", "jobs of a part, where the day is given in parts"),
    ] = RelaxationParams.part
    step_s: Annotated[
        int,
        Duration(limits.ENGINE_STEP_S),
        Key("duration", "the engine's time for the day or a part of it", default="`1s`"),
    ] = int(RelaxationParams.step_s)


class Search(Section):
    """How methods search; a method takes its own section and leaves the others."""

    lookahead_days: Annotated[
        int,
        Whole(limits.LOOKAHEAD_DAYS),
        Key(
            "days",
            "days that a search plans together where the queue reaches beyond the first of them, which alone is kept;"
            " 1: each day by itself",
        ),
    ] = LOOKAHEAD_DAYS
    harvest: Harvest = Harvest()
    delay: Delay = Delay()
    relaxation: Relaxation = Relaxation()

    def params(self) -> SearchParams:
        """The same for the methods."""
        return SearchParams(
            harvest=HarvestParams(**self.harvest.model_dump()),
            delay=DelayParams(**self.delay.model_dump()),
            relaxation=RelaxationParams(**self.relaxation.model_dump()),
        )


class HoldSection(Section):
    """How holds are decided; for how long a job may be held is said by ``rules.max_delay``."""

    every_s: Annotated[
        int,
        Duration(limits.HOLD_EVERY_S),
        Key(
            "duration",
            "how often it is decided anew how much is held, and every hold is looked at again",
            default="`1h`",
        ),
    ] = HoldParams.every_s
    ahead_s: Annotated[
        int,
        Duration(limits.HOLD_AHEAD_S),
        Key("duration", "how far ahead arrivals are expected, as on days before", default="`24h`"),
    ] = HoldParams.ahead_s
    stay_fraction: Annotated[
        float,
        Within(limits.FRACTION),
        Field(alias="stay"),
        Key(
            "fraction", "by what part the time ahead must get cheaper before more or less is held than in the last hour"
        ),
    ] = HoldParams.stay_fraction
    waiting_fraction: Annotated[
        float,
        Within(limits.FRACTION),
        Key(
            "fraction",
            "what an hour of waiting counts for where `goal.waiting` does not say, as a part of what the energy of a"
            " job costs on average",
        ),
    ] = HoldParams.waiting_fraction
    history: Annotated[
        InputFile | None,
        Key(
            "file",
            "jobs of the last eight days that have ended, as sacct writes them or in a table: how long jobs last and"
            " how many arrive",
            default="those of `jobs`, none where they come from Slurm",
        ),
    ] = None

    def params(self) -> HoldParams:
        """The same for the policy."""
        return HoldParams(**self.model_dump(exclude={"history"}))
