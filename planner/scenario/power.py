"""The section ``power`` of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    model_validator,
)

from planner import limits
from planner.scenario.sections import Key, Section, given_of
from planner.scenario.values import DrawnBetween, Flag, InputFile, Within


class Power(Section):
    """What a job draws when its source does not say [W per core]: fixed, or drawn between two bounds.

    ``learned`` goes before both for jobs that it knows something of, within the idle power of nodes and the two maxima.
    """

    rivals = ("w_per_core", "draw_w_per_core")

    w_per_core: Annotated[
        float | None,
        Within(limits.W_PER_CORE),
        Key("W per core", "draw of jobs whose source does not say; wins over the default below"),
    ] = None
    draw_w_per_core: Annotated[
        DrawnBetween | None,
        Key("W per core", "drawn per job, uniformly between two bounds; the default is the published study's"),
    ] = (7.8, 11.11)

    learned: Annotated[
        InputFile | None,
        Key(
            "path",
            "file of what finished jobs drew, made by `plan power learn`; jobs of which it knows nothing draw the"
            " constant above",
        ),
    ] = None
    metered: Annotated[
        Literal["node", "job"],
        Key(
            "word",
            "what the power of finished jobs was measured at: `node`: only jobs that had their nodes for themselves"
            " are learned from; `job`: each figure is the job's own",
        ),
    ] = "node"
    includes_idle: Annotated[
        Flag,
        Key(
            "true or false",
            "whether the power of jobs includes the idle power of their nodes; `false`: a node in use draws `idle_w` on"
            " top of its jobs",
        ),
    ] = True
    max_w_per_core: Annotated[
        float | None, Within(limits.W_PER_CORE), Key("W per core", "no job is thought to draw more than this")
    ] = None
    max_w_per_node: Annotated[
        float | None, Within(limits.NODE_W), Key("W per node", "no job is thought to draw more than this on each node")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        """A fixed power wins over the default draw."""
        given = given_of(cls, value)
        return {"draw_w_per_core": None} | given if isinstance(given, dict) and "w_per_core" in given else given
