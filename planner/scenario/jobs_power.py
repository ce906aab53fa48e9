"""The kinds of ``jobs:`` in a scenario: the sample, Slurm's queue, or a file; and its ``power:``, what jobs draw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Tag,
    WithJsonSchema,
    model_validator,
)

from planner import limits
from planner.scenario.sections import Chooser, Key, Section, given_of
from planner.scenario.values import CoreScale, DrawnBetween, Duration, Flag, InputFile, Whole, Within, existing
from planner.scenario.words import JobsFormat

_SOURCE = Key(
    "`sample`, `slurm` or path",
    "generated jobs, the jobs and nodes of Slurm (`slurm:`, for `plan now`), or a file of jobs",
    default="required",
    example="sample",
)
Lookback = Annotated[
    int,
    Duration(limits.LOOKBACK_S),
    Key("duration", "on a first day, how far back submissions of a trace still count", default="`1d`"),
]
Visibility = Annotated[
    Literal["midnight", "day"],
    Key(
        "word",
        "`midnight`: only jobs submitted before the day; `day`: also those of the day, each from its submit time",
    ),
]
Scaled = Annotated[
    CoreScale,
    Key("number", "factor on requested cores, rounded, at least 1; a fraction such as `9600/93312` is fine"),
]
UnitCores = Annotated[
    int | None,
    Whole(limits.UNIT_CORES),
    Key("cores", "a trace's job of c cores becomes units of at most this many", default="cores of the plainest class"),
]
WholeQueue = Annotated[
    Flag | None,
    Key(
        "flag",
        "whether the file is a queue dump, all of it waiting; tables: `true`, traces and sample: `false`",
        default="by format",
    ),
]
ZeroRuntime = Annotated[
    Literal["keep", "drop"],
    Key(
        "`keep` or `drop`",
        "jobs of an SWF trace that never ran: planned for the time they asked, as a queue would have them, or left out",
    ),
]


class SampleJobs(Section):
    """Generated jobs; ``load`` is the work submitted per day over what the machine can do.

    ``unit_cores`` None: the cores of the plainest node class. ``whole_queue`` None: false.
    """

    source: Annotated[Literal["sample"], _SOURCE]
    lookback_s: Lookback = 86400
    visibility: Visibility = "midnight"
    core_scale: Scaled = 1.0
    unit_cores: UnitCores = None
    load: Annotated[
        float,
        Within(limits.LOAD),
        Key("fraction", "sample only: work submitted per day over what the machine can do"),
    ] = 0.9
    whole_queue: WholeQueue = None
    zero_runtime: ZeroRuntime = "keep"


class SlurmJobs(Section):
    """The jobs of Slurm, with its nodes; the section ``slurm`` says where they are read."""

    source: Annotated[Literal["slurm"], _SOURCE]
    visibility: Visibility = "midnight"


class FileJobs(Section):
    """The jobs of a file.

    ``unit_cores`` None: the cores of the plainest node class. ``whole_queue`` None: true for tables, which are queue
    dumps, false for SWF traces.
    """

    source: Annotated[
        Path,
        BeforeValidator(existing("sample", "slurm")),
        WithJsonSchema({"type": "string", "not": {"enum": ["sample", "slurm"]}}),
        _SOURCE,
    ]
    format: Annotated[JobsFormat, Key("word", "`swf`, `csv`, `parquet`; `auto` goes by the file's name")] = "auto"
    lookback_s: Lookback = 86400
    visibility: Visibility = "midnight"
    core_scale: Scaled = 1.0
    unit_cores: UnitCores = None
    start_unix: Annotated[
        int | None,
        Whole(limits.UNIX_S),
        Key("Unix seconds", "start of an SWF trace whose header has no UnixStartTime", default="from the file"),
    ] = None
    whole_queue: WholeQueue = None
    zero_runtime: ZeroRuntime = "keep"


Jobs = Annotated[
    Annotated[SampleJobs, Tag("sample")] | Annotated[SlurmJobs, Tag("slurm")] | Annotated[FileJobs, Tag("a file")],
    Discriminator(Chooser("source", ("sample", "slurm"), otherwise="a file").kind_of),
]


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
