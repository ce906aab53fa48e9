"""The ``slurm:`` of a scenario: where Slurm is read, what of it is planned, and what may be set in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from planner import limits
from planner.scenario.sections import Key, Section
from planner.scenario.values import Several, Whole, Within, existing_folder

LIVE = Path("live")
"""Stands for Slurm itself, as it is at the moment of planning."""


class OptInSection(Section):
    """Whose begin times may be set: one of the three is enough; nobody by default."""

    partitions: Annotated[Several, Key("names", "jobs that may run in these partitions only")] = ()
    qos: Annotated[Several, Key("names", "jobs of these QOS")] = ()
    comment: Annotated[Several, Key("words", "jobs with one of these words in their comment")] = ()


class SlurmSection(Section):
    """How the site's Slurm is read and written."""

    documents: Annotated[
        Path,
        BeforeValidator(existing_folder("live", LIVE)),
        WithJsonSchema({"type": "string"}),
        Key("`live` or folder", "with `jobs.source: slurm`: Slurm as it is now, or what `plan slurm snapshot` saved"),
    ] = LIVE
    partitions: Annotated[Several, Key("names", "partitions whose nodes and jobs are planned", default="all")] = ()
    idle_w: Annotated[
        float, Within(limits.IDLE_W), Key("W per node", "draw of a node of Slurm on which nothing runs")
    ] = 0.0
    sleep_w: Annotated[
        float | None,
        Within(limits.IDLE_W),
        Key("W per node", "draw of a node of Slurm that is off for want of work", default="it stays on"),
    ] = None
    opt_in: OptInSection = OptInSection()
    tell: Annotated[
        Literal["admin_comment", "comment", "nobody"],
        Key(
            "`admin_comment`, `comment` or `nobody`",
            "where a held job says until when, why, and its latest start; the first needs an administrator of Slurm",
        ),
    ] = "admin_comment"
    keep_days: Annotated[
        int,
        Whole(limits.KEEP_DAYS),
        Key("days", "for how long all versions of planned days are kept; later only the first and the last"),
    ] = 7

    @property
    def is_live(self) -> bool:
        """Whether Slurm itself is asked."""
        return self.documents == LIVE
