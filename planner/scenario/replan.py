"""The section of a scenario that says how a plan is kept true all day."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner import bounds
from planner.scenario.forms import Duration, Whole, Within
from planner.scenario.sections import Key, Section
from planner.scenario.values import Flag


class Replan(Section):
    """The loop: repair at every event, a search every so often, and work held for cheaper hours where it pays."""

    every_s: Annotated[
        int,
        Duration(bounds.REPLAN_EVERY_S),
        Field(alias="every"),
        Key("duration", "how often the order of the queue is searched and holds are decided again", default="`15m`"),
    ] = 900
    ahead_s: Annotated[
        int,
        Duration(bounds.REPLAN_AHEAD_S),
        Field(alias="ahead"),
        Key("duration", "how far ahead a search looks", default="`24h`"),
    ] = 86400
    steps: Annotated[
        int, Whole(bounds.REPLAN_STEPS), Key("jobs", "how many jobs each search may place in its plans; 0: no search")
    ] = 2000
    order: Annotated[
        Literal["saf", "fcfs", "lrf", "laf", "sjf"],
        Key("word", "the order of the queue with which it begins: `saf` is smallest area first"),
    ] = "saf"
    repairs: Annotated[
        Flag, Key("true or false", "whether freed room is given away at every event, not only when a search is due")
    ] = True
    holds: Annotated[
        Flag, Key("true or false", "whether work is held for cheaper hours, as far as the promise allows")
    ] = True
    waiting_core_hours: Annotated[
        float,
        Within(bounds.WAITING_CORE_HOURS),
        Key(
            "core-hours",
            "an hour that a job waits counts as much as the energy of this many core-hours; a job is held only if that"
            " saves more",
        ),
    ] = 25.0
