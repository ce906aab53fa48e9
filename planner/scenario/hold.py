"""The section of a scenario that says how it is decided which jobs are held for cheaper hours."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner import bounds
from planner.domain.search_params import HoldParams
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Within


class Hold(Section):
    """How holds are decided; for how long a job may be held is said by ``rules.max_delay``."""

    every_s: Annotated[
        int,
        Duration(bounds.HOLD_EVERY_S),
        Field(alias="every"),
        Key(
            "duration",
            "how often it is decided anew how much is held, and every hold is looked at again",
            default="`1h`",
        ),
    ] = HoldParams.every_s
    ahead_s: Annotated[
        int,
        Duration(bounds.HOLD_AHEAD_S),
        Field(alias="ahead"),
        Key("duration", "how far ahead arrivals are expected, as on days before", default="`24h`"),
    ] = HoldParams.ahead_s
    stay_fraction: Annotated[
        float,
        Within(bounds.FRACTION),
        Field(alias="stay"),
        Key(
            "fraction", "by what part the time ahead must get cheaper before more or less is held than in the last hour"
        ),
    ] = HoldParams.stay_fraction
    waiting_fraction: Annotated[
        float,
        Within(bounds.FRACTION),
        Key(
            "fraction",
            "what an hour of waiting counts for where `goal.waiting` does not say, as a part of what the energy of a"
            " job costs on average",
        ),
    ] = HoldParams.waiting_fraction

    def params(self) -> HoldParams:
        """The same for the policy."""
        return HoldParams(**self.model_dump())
