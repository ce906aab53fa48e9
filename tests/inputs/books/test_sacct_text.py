"""Claims about the text of ``sacct --parsable2``: what is read, what counts as energy, and what is refused."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from planner.errors import InputError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.sacct_json import Accounts
from planner.inputs.slurm.sacct_text import REPEATED_HOUR, read_sacct_text

PARIS = ZoneInfo("Europe/Paris")
HEAD = "JobID|JobName|State|Submit|Start|End|Elapsed|Timelimit|NodeList|AllocCPUS|AllocTRES|ConsumedEnergyRaw"
EIGHT = 1717221600
"""2024-06-01T08:00:00 in Paris."""


def row(job: str = "7", **cells: str) -> str:
    """A line below `HEAD`."""
    usual = {
        "JobID": job,
        "JobName": "relax",
        "State": "COMPLETED",
        "Submit": "2024-06-01T07:00:00",
        "Start": "2024-06-01T08:00:00",
        "End": "2024-06-01T10:30:00",
        "Elapsed": "02:30:00",
        "Timelimit": "1-06:00:00",
        "NodeList": "cpu[1-2]",
        "AllocCPUS": "12",
        "AllocTRES": "billing=12,cpu=12,mem=16G,node=2",
    }
    return "|".join({**usual, **cells}.get(name, "") for name in HEAD.split("|"))


def read(*rows: str, head: str = HEAD, zone: ZoneInfo = PARIS) -> Accounts:
    return read_sacct_text(DocumentAnswer("sacct.txt", "\n".join([head, *rows, ""]).encode()), zone)[0]


def one(*rows: str) -> SlurmJob:
    (found,) = read(*rows).jobs
    return found


def test_a_row_is_read_in_the_zone_of_the_site() -> None:
    """Local times, days before the hours of a limit, suffixes of memory, short lists of nodes."""
    job = one(row())
    assert (job.submit_unix, job.start_unix, job.end_unix) == (EIGHT - 3600, EIGHT, EIGHT + 9000)
    assert (job.limit_s, job.nodes, job.had.cpus, job.had.memory_mb) == (30 * 3600, ("cpu1", "cpu2"), 12, 16384)
    assert read(row(), zone=ZoneInfo("UTC")).jobs[0].start_unix == EIGHT + 7200


def test_times_with_an_offset_and_unix_seconds_are_themselves() -> None:
    job = one(row(Start="2024-06-01T08:00:00+00:00", End=str(EIGHT + 9999)))
    assert (job.start_unix, job.end_unix) == (EIGHT + 7200, EIGHT + 9999)


@pytest.mark.parametrize(
    ("text", "limit_s"),
    [
        ("2-00:00:30", 172830),
        ("01:30:00", 5400),
        ("45:10", 2710),
        ("90", 5400),
        ("UNLIMITED", None),
        ("Partition_Limit", None),
        ("", None),
    ],
)
def test_limits_as_slurm_writes_them(text: str, limit_s: int | None) -> None:
    assert one(row(Timelimit=text)).limit_s == limit_s


@pytest.mark.parametrize("garbage", ["", "-2", "0", "18446744073709551614", "18446744073709551615", "None", "n/a"])
def test_energy_that_is_none(garbage: str) -> None:
    """Where the job has none, that of its batch step counts, and no other step's."""
    assert one(row(ConsumedEnergyRaw=garbage)).energy_j is None
    steps = (row("7.extern", ConsumedEnergyRaw="5"), row("7.batch", ConsumedEnergyRaw="1234"), row("7.0"))
    assert one(row(ConsumedEnergyRaw=garbage), *steps).energy_j == 1234
    assert one(row(ConsumedEnergyRaw="99"), *steps).energy_j == 99


def test_energy_with_a_suffix_is_in_thousands() -> None:
    head = HEAD.replace("ConsumedEnergyRaw", "ConsumedEnergy")
    assert read(row(ConsumedEnergyRaw="2.50M"), head=head).jobs[0].energy_j == 2_500_000


def test_states_and_names_of_jobs() -> None:
    """Array tasks, parts of jobs, cancelled and unended ones; a sign between columns in a name is part of it."""
    found = read(
        row("40_3"),
        row("50+1"),
        row("60", State="CANCELLED by 1000", Start="Unknown", NodeList="None assigned"),
        row("61", State="RUNNING", End="Unknown"),
        row("62", State="OUT_OF_MEMORY", JobName="a|b|c"),
    ).jobs
    assert [job.label for job in found] == ["40_3", "51", "60", "61", "62"]
    assert [job.start_unix is None for job in found] == [False, False, True, False, False]
    assert [job.end_unix is None for job in found] == [False, False, False, True, False]
    assert (found[2].state_words, found[2].nodes, found[4].name) == (("CANCELLED",), (), "a|b|c")


def test_the_hour_that_clocks_repeat_goes_by_how_long_the_job_ran() -> None:
    """On 2024-10-27 Paris has 02:00 to 03:00 twice: from 01:30 to 02:30 is an hour, or two."""
    first = 1729985400  # 2024-10-27T01:30 in Paris, 23:30 in UTC the day before
    times = {"Start": "2024-10-27T01:30:00", "End": "2024-10-27T02:30:00"}
    assert one(row(**times, Elapsed="01:00:00")).end_unix == first + 3600
    assert one(row(**times, Elapsed="02:00:00")).end_unix == first + 7200
    text = "\n".join([HEAD, row(Start="2024-10-27T02:10:00", End="2024-10-27T02:30:00", Elapsed="00:20:00")])
    accounts, repaired = read_sacct_text(DocumentAnswer("sacct.txt", text.encode()), PARIS)
    assert (accounts.jobs[0].start_unix, repaired[REPEATED_HOUR]) == (first + 2400, 1)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["JobID|State"], "sacct.txt:1: has no column Submit"),
        ([HEAD.replace("AllocCPUS", "x").replace("AllocTRES", "y")], "sacct.txt:1: has no column AllocCPUS"),
        ([HEAD, row("x7")], "sacct.txt:2: JobID is 'x7'"),
        ([HEAD, row(State="")], "sacct.txt:2: State is ''"),
        ([HEAD, row(Submit="Unknown")], "sacct.txt:2: Submit is 'Unknown'"),
        ([HEAD, row(Start="yesterday")], "sacct.txt:2: Start is 'yesterday'"),
        ([HEAD, row(Start="2024-03-31T02:30:00")], "which skip this one"),
        (
            [HEAD, row(Start="0001-01-01T00:00:00")],
            "sacct.txt:2: Start is '0001-01-01T00:00:00', expected a time from 1970",
        ),
        ([HEAD, row(End="2024-06-01T07:59:59")], "expected a time after Start"),
        ([HEAD, row(Timelimit="soon")], "sacct.txt:2: Timelimit is 'soon'"),
        ([HEAD, row(Timelimit="1:75")], "sacct.txt:2: Timelimit is '1:75'"),
        ([HEAD, row(AllocCPUS="many", AllocTRES="")], "sacct.txt:2: AllocCPUS is 'many'"),
        ([HEAD, row(AllocTRES="cpu")], "sacct.txt:2: AllocTRES: 'cpu' is no amount"),
        ([HEAD, row(NodeList="cpu[2-1]")], "sacct.txt:2: NodeList: cannot read 'cpu[2-1]' as nodes"),
        ([HEAD, row(), row("8.batch")], "sacct.txt:3: JobID is '8.batch'"),
        ([HEAD, "7|relax"], "sacct.txt:2: expected 12 fields, found 2"),
        ([""], "sacct.txt: is empty"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(rows: list[str], problem: str) -> None:
    with pytest.raises(InputError) as error:
        read_sacct_text(DocumentAnswer("sacct.txt", "\n".join(rows).encode()), PARIS)
    assert problem in str(error.value)
