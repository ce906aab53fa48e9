"""The section ``search`` of a scenario: how methods search."""

from __future__ import annotations

from typing import Annotated

from planner import limits
from planner.defaults import LOOKAHEAD_DAYS
from planner.domain.method_params import DelayParams, HarvestParams, RelaxationParams, SearchParams
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Flag, Whole, Within


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
