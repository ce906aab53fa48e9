"""The section of a scenario that says how a plan is kept true all day."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner import bounds
from planner.domain.search_params import ReplanParams
from planner.scenario.sections import Key, Section
from planner.scenario.values import Duration, Flag, Whole, Within


class Replan(Section):
    """The loop: repair at every event; every so often work held for cheaper hours, and the order searched if asked."""

    every_s: Annotated[
        int,
        Duration(bounds.REPLAN_EVERY_S),
        Field(alias="every"),
        Key("duration", "how often holds are decided again, and the order of the queue is searched", default="`15m`"),
    ] = ReplanParams.every_s
    ahead_s: Annotated[
        int,
        Duration(bounds.REPLAN_AHEAD_S),
        Field(alias="ahead"),
        Key("duration", "how far ahead a search looks", default="`24h`"),
    ] = ReplanParams.ahead_s
    steps: Annotated[
        int, Whole(bounds.REPLAN_STEPS), Key("jobs", "how many jobs each search may place in its plans; 0: no search")
    ] = ReplanParams.steps
    repairs: Annotated[
        Flag, Key("true or false", "whether freed room is given away at every event, not only when a search is due")
    ] = ReplanParams.repairs
    holds: Annotated[
        Flag, Key("true or false", "whether work is held for cheaper hours, as far as `rules.max_delay` allows")
    ] = ReplanParams.holds
    waiting_core_hours: Annotated[
        float,
        Within(bounds.WAITING_CORE_HOURS),
        Key(
            "core-hours",
            "an hour that a job waits counts as much as the energy of this many core-hours; a job is held only if that"
            " saves more",
        ),
    ] = ReplanParams.waiting_core_hours

    def params(self) -> ReplanParams:
        """The same for the methods."""
        return ReplanParams(**self.model_dump())
