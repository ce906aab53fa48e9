"""Reads jobs from whatever sacct has written: JSON, or the text of ``--parsable2``, a table with ``|`` between its
columns.

Times of the text are local, as sacct writes them, unless they have an offset or are Unix seconds. A row of a job is
followed by those of its steps; of these only the energy of the batch step counts, where the job has none of its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

from planner import limits
from planner.domain.node_lists import expanded
from planner.errors import FileFormatError, InputError
from planner.inputs.local_times import FORMS, moments_of, slurm_duration_s
from planner.inputs.slurm.job import AllocatedNode, SlurmJob, accounted_state, state_words
from planner.inputs.slurm.json_document import DocumentAnswer, Read, Source, content_of
from planner.inputs.slurm.notations import NO_NODES, Amounts, names_of, parse_tres
from planner.inputs.slurm.request import accounted_request
from planner.inputs.slurm.sacct_json import GARBAGE_J, Accounts, read_accounting
from planner.printable import one_line
from planner.text_files import read_bytes

COMMAND = "sacct --parsable2 --allusers --format=..."
NEEDED = ("JobID", "State", "Submit", "Start", "End", "NodeList")
FREE_TEXT = ("JobName", "Comment", "SubmitLine", "WorkDir")
"""Columns of the users' own words, which may hold the sign between columns."""
NOTHING = frozenset({"", "none", "unknown", "n/a", "(null)"})
YEARS = "a time from 1970 to 9998"
REPEATED_HOUR = "local times of the hour that clocks repeat: taken as the first"

_LABEL = re.compile(r"(\d{1,18})(?:_(\d{1,18}|\[[^\]]*\])|\+(\d{1,9}))?(?:\.(.+))?", re.ASCII)
_AMOUNT = re.compile(r"(-?\d{1,24}(?:\.\d{1,9})?)([KMGTP]?)", re.ASCII)
_THOUSANDS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@dataclass(frozen=True)
class _Line:
    """One line of the table: its cells by the names of the columns in small letters."""

    source: str
    number: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        return self.cells.get(column.lower(), "").strip()

    def has(self, column: str) -> bool:
        return self.text(column).lower() not in NOTHING

    def wrong(self, column: str, expected: str) -> FileFormatError:
        problem = f"{column} is '{one_line(self.text(column), 40)}', expected {expected}"
        return FileFormatError(self.source, problem, line=self.number, remedy="give sacct's output as it came")

    def whole(self, column: str) -> int | None:
        if not self.has(column):
            return None
        if not re.fullmatch(r"\d{1,15}", self.text(column), re.ASCII):
            raise self.wrong(column, "a whole number")
        return int(self.text(column))

    def parsed(self, column: str, parse: Callable[[str], Read]) -> Read:
        """What a function makes of a cell; its InputError gets the line and the column."""
        try:
            return parse(self.text(column))
        except InputError as error:
            raise FileFormatError(self.source, f"{column}: {error}", line=self.number) from error


def read_sacct_text(source: Source, zone: ZoneInfo) -> tuple[Accounts, Counter[str]]:
    """Every job of the table, and what was repaired, by reason; ``zone`` is that of its local times."""
    name, content = content_of(source)
    repaired: Counter[str] = Counter()
    jobs: list[SlurmJob] = []
    labels: list[str] = []
    for line in _lines(name, content):
        match = _LABEL.fullmatch(line.text("JobID"))
        if match is None:
            raise line.wrong("JobID", "a job such as 42, 42_7 or 42.batch")
        job_label, step = line.text("JobID").partition(".")[0], match[4]
        if step is None:
            jobs.append(_job(line, match, zone, repaired))
            labels.append(job_label)
        elif not labels or labels[-1] != job_label:
            raise line.wrong("JobID", "the steps of a job right after it")
        elif step == "batch" and jobs[-1].energy_j is None:
            jobs[-1] = replace(jobs[-1], energy_j=_energy_j(line))
    return Accounts(tuple(jobs)), repaired


def _lines(name: str, content: bytes) -> list[_Line]:
    rows = [row.rstrip("\r") for row in content.decode("utf-8-sig", "replace").split("\n")]
    if not rows[0].strip():
        raise FileFormatError(name, "is empty", remedy=f"expected the output of `{COMMAND}`")
    columns = [column.strip().lower() for column in rows[0].split("|")]
    if columns[-1] == "":  # sacct -p, which ends every line with the sign
        columns.pop()
    for column in NEEDED:
        if column.lower() not in columns:
            remedy = f"expected the output of `{COMMAND}` with {', '.join(NEEDED)} and AllocCPUS or AllocTRES"
            raise FileFormatError(name, f"has no column {column}", line=1, remedy=remedy)
    if not {"alloccpus", "ncpus", "alloctres"} & set(columns):
        raise FileFormatError(name, "has no column AllocCPUS or AllocTRES", line=1, remedy="ask sacct for one of them")
    if len(set(columns)) < len(columns):
        raise FileFormatError(name, "has a column twice", line=1, remedy="ask sacct for each once")
    return [
        _Line(name, number, dict(zip(columns, _cells(name, number, row, columns), strict=True)))
        for number, row in enumerate(rows[1:], start=2)
        if row.strip()
    ]


def _cells(name: str, number: int, row: str, columns: list[str]) -> list[str]:
    """The cells of a line; a sign between columns that stands in a text is part of it where only one can hold it."""
    cells = row.split("|")
    if len(cells) == len(columns) + 1 and cells[-1] == "":
        cells.pop()
    more = len(cells) - len(columns)
    if not more:
        return cells
    texts = [place for place, column in enumerate(columns) if column in {each.lower() for each in FREE_TEXT}]
    if more < 0 or len(texts) != 1:
        remedy = "give sacct's output as it came; where a name holds '|', give sacct --json"
        raise FileFormatError(name, f"expected {len(columns)} fields, found {len(cells)}", line=number, remedy=remedy)
    place = texts[0]
    return [*cells[:place], "|".join(cells[place : place + more + 1]), *cells[place + more + 1 :]]


def _job(line: _Line, label: re.Match[str], zone: ZoneInfo, repaired: Counter[str]) -> SlurmJob:
    words = state_words([line.text("State")])
    if not words:
        raise line.wrong("State", "a state such as COMPLETED")
    submit = _moments(line, "Submit", zone)
    if not submit:
        raise line.wrong("Submit", "a time")
    start, end = _start_and_end(line, zone, repaired)
    found = accounted_state(words, start, end)
    is_over = found == "finished"
    if is_over and start is not None and end is not None and end < start:
        raise line.wrong("End", f"a time after Start, {line.text('Start')}")
    is_task = label[2] is not None and label[2].isdigit()
    nodes = line.parsed("NodeList", expanded) if line.has("NodeList") and line.text("NodeList") not in NO_NODES else ()
    return SlurmJob(
        job_id=line.whole("JobIDRaw") or int(label[1]) + int(label[3] or 0),  # parts of a job follow its number
        name=line.text("JobName"),
        user=line.text("User"),
        account=line.text("Account"),
        partitions=names_of(line.text("Partition")),
        comment=line.text("Comment"),
        qos=line.text("QOS"),
        state=found,
        state_words=words,
        submit_unix=submit[0],
        start_unix=start,
        end_unix=end if is_over else None,
        limit_s=_limit_s(line),
        array_job_id=int(label[1]) if is_task else None,
        array_task_id=int(label[2]) if is_task else None,
        allocated=tuple(AllocatedNode(name) for name in nodes),
        had=_amounts(line),
        energy_j=_energy_j(line),
        request=accounted_request(line.parsed("ReqTRES", parse_tres), len(nodes), line.text("SubmitLine")),
    )


def _moments(line: _Line, column: str, zone: ZoneInfo) -> tuple[int, ...]:
    """The moments that a cell may mean; none where it is empty."""
    if not line.has(column):
        return ()
    try:
        found = moments_of(line.text(column), zone)
    except InputError as error:
        raise line.wrong(column, "a time such as 2024-06-01T08:00:00, or Unknown") from error
    except OverflowError:
        raise line.wrong(column, YEARS) from None
    if not found:
        raise line.wrong(column, f"a time that clocks show in {zone.key}, which skip this one")
    if found[0] not in limits.UNIX_S or found[-1] not in limits.UNIX_S:
        raise line.wrong(column, YEARS)
    return found


def _start_and_end(line: _Line, zone: ZoneInfo, repaired: Counter[str]) -> tuple[int | None, int | None]:
    """Start and end; in the hour that clocks repeat, those that are as far apart as the job ran."""
    starts, ends = _moments(line, "Start", zone), _moments(line, "End", zone)
    if not starts or not ends:
        return next(iter(starts), None), next(iter(ends), None)
    pairs = [(start, end) for start in starts for end in ends]
    ran = _elapsed_s(line)
    fitting = [pair for pair in pairs if pair[1] - pair[0] == ran] or [pair for pair in pairs if pair[0] <= pair[1]]
    if len(fitting) > 1:
        repaired[REPEATED_HOUR] += 1
    return (fitting or pairs)[0]


def _elapsed_s(line: _Line) -> int | None:
    raw = line.whole("ElapsedRaw")
    return _duration_s(line, "Elapsed") if raw is None else raw


def _duration_s(line: _Line, column: str) -> int | None:
    if not line.has(column):
        return None
    try:
        return slurm_duration_s(line.text(column))
    except InputError as error:
        raise line.wrong(column, FORMS) from error


def _limit_s(line: _Line) -> int | None:
    words = ("unlimited", "partition_limit", "infinite", "invalid")
    minutes = None if line.text("TimelimitRaw").lower() in words else line.whole("TimelimitRaw")
    if minutes is not None:
        return 60 * minutes or None
    return None if line.text("Timelimit").lower() in words else _duration_s(line, "Timelimit") or None


def _amounts(line: _Line) -> Amounts:
    """What the job had."""
    found = line.parsed("AllocTRES", parse_tres)
    cpus = found.cpus
    for column in ("AllocCPUS", "NCPUS"):
        cpus = cpus or line.whole(column)
    return replace(found, cpus=cpus or None)


def _energy_j(line: _Line) -> int | None:
    """Energy [J] of the first column that has some; marks, garbage and 0 are none, and so is what is no number."""
    for column in ("ConsumedEnergyRaw", "ConsumedEnergy"):
        match = _AMOUNT.fullmatch(line.text(column).upper())
        if match is None:
            continue
        joules = float(match[1]) * _THOUSANDS[match[2]]
        if 1 <= joules < GARBAGE_J and math.isfinite(joules):
            return int(joules)
    return None


def read_accounts(source: Source, zone: ZoneInfo) -> tuple[Accounts, Counter[str]]:
    """Every job of the output of ``sacct --json`` or ``sacct --parsable2``, and what was repaired, by reason.

    ``zone`` is that of local times, which only the text has.
    """
    name, content = content_of(source)
    if _is_json(content):
        return read_accounting(DocumentAnswer(name, content)), Counter()
    return read_sacct_text(DocumentAnswer(name, content), zone)


def holds_accounts(path: Path) -> bool:
    """Whether sacct has written a file, and not somebody a table."""
    if path.suffix.lower() == ".parquet":
        return False
    content = read_bytes(path)
    return _is_json(content) or b"|" in content.partition(b"\n")[0]


def _is_json(content: bytes) -> bool:
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
