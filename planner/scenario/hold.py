"""The section ``hold`` of a scenario: how jobs are held for cheaper hours."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner import limits
from planner.domain.method_params import HoldParams
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, InputFile, Within


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
