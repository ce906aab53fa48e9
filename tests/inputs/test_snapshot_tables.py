"""Claims about tables of a snapshot: what each state means, how nodes are found, and one line for all that is wrong."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pandas as pd
import pytest

from planner import limits
from planner.domain.situation import Outage
from planner.errors import InputError
from planner.inputs.snapshots import EARLY_START, NODE_COLUMNS, ROUNDED_OUTAGE, STATE_COLUMNS, read_snapshot
from planner.inputs.table_cells import ROUNDED_TIME
from tests.snapshots import HEAD, NOW, at, read, row, site, states, table

PAGE = (Path(__file__).parents[2] / "docs" / "snapshots.md").read_text("utf-8")


def test_every_state(tmp_path: Path) -> None:
    """Pending, running, done, and cancelled while it ran or before it started."""
    path = table(
        tmp_path,
        row("a", "pending"),
        row("b", "running", "07:00", nodes="cpu1"),
        row("c", "done", "05:30", "06:30", "cpu2"),
        row("d", "cancelled", "06:00", "06:10", "cpu[3-4]", size="2,8"),
        row("e", "cancelled"),
        row("f", "Cancelled", end="06:00"),
    )
    snapshot, intake = read(path)
    assert [job.id for job in snapshot.pending] == ["a"]
    assert [job.id for job in snapshot.withdrawn] == ["e", "f"]
    assert [(each.job.id, each.start_unix, each.end_unix, each.nodes, each.cancelled) for each in snapshot.started] == [
        ("c", NOW - 9000, NOW - 5400, (1,), False),
        ("d", NOW - 7200, NOW - 6600, (2, 3), True),
        ("b", NOW - 3600, None, (0,), False),
    ]
    assert [each.job.id for each in snapshot.running] == ["b"]
    assert intake.kept == 6
    assert intake.notes == ["1 pending, 1 running, 1 done, 1 cancelled while they ran, 2 before they started"]


def test_the_example_of_the_page_reads(tmp_path: Path) -> None:
    """Both tables, and every column has a row there."""
    for first, name in (("job_id,", "now.csv"), ("node,", "nodes.csv")):
        lines = PAGE[PAGE.index(f"    {first}") :].partition("\n\n")[0].splitlines()
        (tmp_path / name).write_text("\n".join(line.strip() for line in lines) + "\n")
    snapshot, _ = read(tmp_path / "now.csv", tmp_path / "nodes.csv")
    assert [(each.job.id, each.state, each.nodes) for each in snapshot.started] == [
        ("relax-18", "done", (0,)),
        ("fold-3", "cancelled", (4,)),
        ("relax-17", "running", (0, 1, 3)),
    ]
    assert [job.id for job in (*snapshot.withdrawn, *snapshot.pending)] == ["fold-4", "fold-5"]
    assert [(each.node, each.state) for each in snapshot.outages] == [
        (2, "down"),
        (4, "maintenance"),
        (5, "maintenance"),
    ]
    assert all(f"`{column}`" in PAGE for column in (*STATE_COLUMNS, *NODE_COLUMNS))


def test_a_job_table_is_a_queue(tmp_path: Path) -> None:
    """Without states every job waits, oldest first."""
    head = "job_id,submit_time,requested_h,cores"
    snapshot, _ = read(table(tmp_path, f"a,{at('06:00')},1,4", f"b,{at('05:00')},1,4", head=head))
    assert [job.id for job in snapshot.pending] == ["b", "a"]
    assert not snapshot.started


def test_parquet_with_typed_columns(tmp_path: Path) -> None:
    """Times may be timestamps with a zone, Unix seconds may be numbers, and missing cells are null."""
    zone = dt.timezone(dt.timedelta(hours=2))
    frame = pd.DataFrame(
        {
            "job_id": ["a", "b"],
            "submit_unix": [NOW - 9000, NOW - 8000],
            "requested_s": [3600, 3600],
            "cores": [4, 4],
            "state": ["running", "pending"],
            "start_time": pd.array([dt.datetime(2024, 6, 1, 9, tzinfo=zone), None]),
            "nodes": ["gpu2", None],
        }
    )
    frame.to_parquet(tmp_path / "now.parquet")
    snapshot, _ = read(tmp_path / "now.parquet")
    (running,) = snapshot.started
    assert (running.start_unix, running.nodes) == (NOW - 3600, (5,))


def test_units_are_dealt_to_named_nodes(tmp_path: Path) -> None:
    """One each where there are as many, filled in turn where there are fewer, around what the others hold."""
    path = table(
        tmp_path,
        row("spread", "running", "07:00", nodes="cpu[1-2]", size="3,2"),
        row("even", "running", "07:00", nodes="cpu3,cpu4", size="2,2"),
        row("full", "running", "07:30", nodes="cpu1", size="1,6"),
    )
    nodes = {each.job.id: each.nodes for each in read(path)[0].started}
    # 6 of the 8 cores of cpu1 are taken: one unit of two goes there, two to cpu2.
    assert nodes == {"full": (0,), "spread": (0, 1, 1), "even": (2, 3)}


def test_unit_nodes_say_it_exactly(tmp_path: Path) -> None:
    """They win over any dealing; beside them nodes may be given if they agree."""
    head = HEAD.replace("end_time", "unit_nodes")
    path = table(tmp_path, f'a,{at("05:00")},4,4,2,running,{at("07:00")},2*3 0,"cpu[1,3]"', head=head)
    assert read(path)[0].started[0].nodes == (2, 2, 2, 0)


def test_repairs_are_counted(tmp_path: Path) -> None:
    """Clocks differ: a start before the submission stands as written; fractions of a second are rounded up."""
    path = table(
        tmp_path,
        row("a", "running", "04:59", nodes="cpu1"),
        f"b,{at('05:00')},4,1,4,done,2024-06-01T06:00:00.2Z,2024-06-01T07:00:00.9Z,cpu1",
    )
    snapshot, intake = read(path)
    assert intake.repaired == {EARLY_START: 1, ROUNDED_TIME: 2}
    assert [(each.job.submit_unix, each.start_unix) for each in snapshot.started] == [
        (NOW - 10800, NOW - 10860),
        (NOW - 10800, NOW - 7199),
    ]


def test_waiting_jobs_that_never_fit_are_kept_and_named(tmp_path: Path) -> None:
    """One user's slip must not stop the planning of all; planning rejects the job with its reason."""
    snapshot, intake = read(table(tmp_path, row("a", "pending"), row("wide", "pending", size="7,8")))
    assert [job.id for job in snapshot.pending] == ["a", "wide"]
    assert intake.notes[1] == (
        "1 pending can never run here; the first is wide: asks for 7 units of 8 cores, the machine takes 4 at once"
    )


RUNS = row("a", "running", "07:00", nodes="cpu1")


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        pytest.param(
            [RUNS, row("b", "runing", "07:00", nodes="cpu2")],
            "3: column state is 'runing', expected pending, running, done or cancelled; did you mean running?",
            id="unknown state",
        ),
        pytest.param(
            [RUNS, row("b", "")],
            "3: the job has no state, others have; fill state with pending, running, done or cancelled",
            id="no state",
        ),
        pytest.param(
            [row("b", "", "07:00", nodes="cpu2")],
            "2: column start_time is filled, but no job has a state;"
            " fill state with pending, running, done or cancelled",
            id="no states at all",
        ),
        pytest.param(
            [row("a", "pending", "07:00")],
            "2: the job is pending but column start_time is filled; leave it empty, or correct the state",
            id="pending with start",
        ),
        pytest.param(
            [row("a", "pending", nodes="cpu1")],
            "2: the job is pending but column nodes is filled; leave it empty, or correct the state",
            id="pending with nodes",
        ),
        pytest.param(
            [row("a", "running", nodes="cpu1")],
            "2: the job is running but has no start; fill start_time or start_unix",
            id="running without start",
        ),
        pytest.param(
            [row("a", "running", "07:00", "07:30", "cpu1")],
            "2: the job is running but column end_time is filled; leave it empty, or correct the state",
            id="running with end",
        ),
        pytest.param(
            [row("a", "running", "07:00")],
            "2: the job is running but has no nodes; fill nodes or unit_nodes",
            id="running without nodes",
        ),
        pytest.param(
            [row("a", "done", "07:00", nodes="cpu1")],
            "2: the job is done but has no end; fill end_time or end_unix",
            id="done without end",
        ),
        pytest.param(
            [row("a", "cancelled", "07:00", nodes="cpu1")],
            "2: the job is cancelled but has no end; fill end_time or end_unix",
            id="cancelled without end",
        ),
        pytest.param(
            [row("a", "cancelled", nodes="cpu1")],
            "2: the job is cancelled and has nodes but no start; fill start_time or start_unix",
            id="cancelled with nodes alone",
        ),
        pytest.param(
            [row("a", "done", "07:00", "06:00", "cpu1")],
            "2: job a ends at 2024-06-01T06:00:00Z, before its start at 2024-06-01T07:00:00Z; correct its times",
            id="end before start",
        ),
        pytest.param(
            [row("a", "running", "08:01", nodes="cpu1")],
            "2: job a starts at 2024-06-01T08:01:00Z, after the moment of the snapshot, 2024-06-01T08:00:00Z;"
            " correct one of them",
            id="start in the future",
        ),
        pytest.param(
            [row("a", "done", "07:00", "08:01", "cpu1")],
            "2: job a ends at 2024-06-01T08:01:00Z, after the moment of the snapshot, 2024-06-01T08:00:00Z;"
            " correct one of them",
            id="end in the future",
        ),
        pytest.param(
            [RUNS.replace("2024-06-01T07:00:00Z", "2023-10-29T02:30:00")],
            "2: column start_time is '2023-10-29T02:30:00', expected a time with its offset: Europe/Paris has this one"
            " twice; write 2024-06-01T08:00:00+02:00, or end it in Z for UTC",
            id="local time of an hour that clocks repeat",
        ),
        pytest.param(
            [RUNS, row("a", "pending")],
            "3: job_id 'a' is also on line 2; give every job a name of its own",
            id="job twice",
        ),
        pytest.param(
            [row("a", "running", "07:00", nodes="cpu5")],
            "2: there is no node 'cpu5'; nodes of class 'cpu' are cpu1 to cpu4",
            id="unknown node",
        ),
        pytest.param(
            [row("a", "running", "07:00", nodes="cpu[1-2],cpu2", size="3,8")],
            "2: node cpu2 is named twice; name it once",
            id="node twice",
        ),
        pytest.param(
            [row("a", "running", "07:00", nodes="cpu[1-2]")],
            "2: job a has 1 units on 2 nodes; name at most one node per unit",
            id="more nodes than units",
        ),
        pytest.param(
            [row("a", "running", "07:00", nodes="cpu[1-2]", size="3,8")],
            "2: the 3 units of job a do not fit on cpu[1-2]; correct its nodes or its size, or give unit_nodes",
            id="more units than the nodes take",
        ),
        pytest.param(
            [row("a", "running", "07:00", nodes="cpu[1-4]", size="4,9")],
            "2: job a cannot have started here: a unit asks for 9 cores, more than any node has;"
            " correct its size or the cluster",
            id="never fits",
        ),
        pytest.param(
            [RUNS, row("b", "running", "07:30", nodes="cpu1", size="1,6")],
            " node cpu1 has 8 cores, but jobs a and b hold 10 from 2024-06-01T07:30:00Z, 2 too many;"
            " correct their nodes, times or sizes",
            id="over-use now",
        ),
        pytest.param(
            [row("a", "done", "05:00", "06:00", "cpu1"), row("b", "done", "05:30", "06:30", "cpu1", size="1,5")],
            " node cpu1 has 8 cores, but jobs a and b hold 9 from 2024-06-01T05:30:00Z, 1 too many;"
            " correct their nodes, times or sizes",
            id="over-use in the past",
        ),
    ],
)
def test_bad_rows(tmp_path: Path, rows: list[str], line: str) -> None:
    """Each is exactly one line, with the line of the file or the names of the jobs."""
    path = table(tmp_path, *rows)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).replace(str(tmp_path), "") == f"/now.csv:{line}"


@pytest.mark.parametrize(
    ("units", "nodes", "line"),
    [
        ("0-3", "", "2: job a has 2 units on 4 nodes; give one node per unit"),
        ("5-6", "", "2: unit_nodes has node 6; the nodes are 0 to 5; correct it"),
        ("0-1", "cpu[2-3]", "2: unit_nodes are cpu[1-2], nodes are cpu[2-3]; leave one of them empty"),
        ("cpu1", "", "2: cannot read 'cpu1' as nodes; expected text such as 0-3 7*2"),
    ],
)
def test_bad_unit_nodes(tmp_path: Path, units: str, nodes: str, line: str) -> None:
    """One node for each unit, all known, and the same as ``nodes``."""
    head = HEAD.replace("end_time", "unit_nodes")
    path = table(tmp_path, f'a,{at("05:00")},4,2,2,running,{at("07:00")},{units},"{nodes}"', head=head)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).replace(str(tmp_path), "") == f"/now.csv:{line}"


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (
            HEAD + ",stat",
            " unknown column 'stat' (did you mean 'state'?); rename or remove it; docs/snapshots.md lists all",
        ),
        (HEAD.replace("job_id", "name"), " no column job_id; add it; docs/snapshots.md lists all columns"),
    ],
)
def test_bad_columns(tmp_path: Path, head: str, line: str) -> None:
    """The message leads to the page about snapshots."""
    with pytest.raises(InputError) as caught:
        read(table(tmp_path, head=head))
    assert str(caught.value).replace(str(tmp_path), "") == f"/now.csv:{line}"


def test_both_forms_of_a_time(tmp_path: Path) -> None:
    """One of them is enough."""
    path = table(tmp_path, RUNS + ",3", head=HEAD + ",start_unix")
    with pytest.raises(InputError, match=r"2: columns start_time and start_unix are both filled; leave one"):
        read(path)


def test_the_moment_and_the_scale(tmp_path: Path) -> None:
    """A moment outside the calendar, and a scenario that scales cores, are refused."""
    path = table(tmp_path)
    with pytest.raises(InputError, match="the moment of the snapshot is -1; it must be from 0 to"):
        read_snapshot(path, at_unix=-1, scenario=site())
    with pytest.raises(InputError, match=r"the core scale is 0\.5, but a job table is taken as it is written"):
        read(path, scenario=site("jobs.core_scale=0.5"))


def test_node_states(tmp_path: Path) -> None:
    """Lists of nodes, open ends, nodes that are up; fractions of a second lengthen an outage."""
    nodes = states(
        tmp_path,
        '"cpu[1-2]",down,,',
        f"gpu1,Maintenance,{at('09:00')},{at('10:00')}",
        "cpu4,up,,",
        "cpu3,drain,2024-06-01T07:59:59.9Z,2024-06-01T08:59:59.1Z",
    )
    snapshot, intake = read(table(tmp_path), nodes)
    assert snapshot.outages == (
        Outage(0, 0, None, "down"),
        Outage(1, 0, None, "down"),
        Outage(2, NOW - 1, NOW + 3600, "drain"),
        Outage(4, NOW + 3600, NOW + 7200, "maintenance"),
    )
    assert intake.repaired == {ROUNDED_OUTAGE: 1}


def test_running_on_a_node_in_some_state(tmp_path: Path) -> None:
    """Down is a contradiction; draining, or maintenance that is yet to come, is not."""
    path = table(tmp_path, RUNS)
    for allowed in ("cpu1,drain,,", f"cpu1,maintenance,{at('08:01')},", f"cpu1,down,,{at('08:00')}", "cpu1,up,,"):
        assert len(read(path, states(tmp_path, allowed))[0].running) == 1
    with pytest.raises(InputError) as caught:
        read(path, states(tmp_path, "cpu1,down,,"))
    assert str(caught.value) == f"{path}: job a runs on node cpu1, which is down; correct the state of one of them"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cpu1,dwon,,", "2: column state is 'dwon', expected down, drain, maintenance or up; did you mean down?"),
        ("cpu9,up,,", "2: there is no node 'cpu9'; nodes of class 'cpu' are cpu1 to cpu4"),
        ('"cpu[1,1]",down,,', "2: node cpu1 is named twice; name it once"),
        (",down,,", "2: column node is empty; fill it"),
        ("cpu1,,,", "2: column state is empty; fill it"),
        (
            "cpu1,down,2024-03-31T02:30:00,",
            "2: column from is '2024-03-31T02:30:00', expected a time with its offset: Europe/Paris has this one never;"
            " write 2024-06-01T08:00:00+02:00, or end it in Z for UTC",
        ),
        (
            f"cpu1,down,{at('08:00')},{at('07:00')}",
            "2: an outage ends at 2024-06-01T07:00:00Z, not after its start at 2024-06-01T08:00:00Z; correct its times",
        ),
    ],
)
def test_bad_node_states(tmp_path: Path, text: str, line: str) -> None:
    """Each is exactly one line."""
    with pytest.raises(InputError) as caught:
        read(table(tmp_path), states(tmp_path, text))
    assert str(caught.value).replace(str(tmp_path), "") == f"/nodes.csv:{line}"


def test_bad_columns_of_node_states(tmp_path: Path) -> None:
    """Unknown and missing."""
    for head, line in (
        (
            "node,stat",
            "unknown column 'stat' (did you mean 'state'?); rename or remove it; docs/snapshots.md lists all",
        ),
        ("node,from", "no column state; add it; docs/snapshots.md lists all columns"),
    ):
        with pytest.raises(InputError) as caught:
            read(table(tmp_path), states(tmp_path, head=head))
        assert str(caught.value) == f"{tmp_path}/nodes.csv: {line}"


def test_more_outages_than_any_site_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small table can name a large machine again and again."""
    monkeypatch.setattr(limits, "OUTAGES", limits.Bounds(0, 5))
    rows = [f'"cpu[1-3]",down,,{at(clock)}' for clock in ("08:30", "09:30")]
    with pytest.raises(InputError, match=r"nodes\.csv: the number of outages is 6; it must be from 0 to 5"):
        read(table(tmp_path), states(tmp_path, *rows))
