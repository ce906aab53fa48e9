"""A site read from Slurm's documents: its jobs, their past, and a reason for each job that is left alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.domain.job import UnitGroup, format_dependencies
from planner.domain.situation import Situation
from planner.errors import InputError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import Source
from planner.inputs.slurm.node_classes import machine_of
from planner.inputs.slurm.nodes_reservations import SlurmNode
from planner.inputs.slurm.read_site import SlurmSite
from planner.inputs.slurm.saved_folder import Documents, read_saved
from planner.scenario.cluster_slurm import SlurmSection
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from tests.days import write_small_site
from tests.inputs.slurm_json.test_slurm_machine import machine, node
from tests.slurm_documents import DIALECTS, NOW, Dialect, answer, job, reservations, sacct, small_queue, squeue


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """A scenario whose jobs come from Slurm."""
    write_small_site(tmp_path)
    return load_scenario("site", folders=[tmp_path / "scenarios"], overrides=["jobs.source=slurm", "seed=3"])


def site_of(
    queue: Sequence[Mapping[str, Any]],
    nodes: Sequence[SlurmNode] | None = None,
    dialect: Dialect = "24.11",
    **documents: Source,
) -> SlurmSite:
    """The site of a queue on plain nodes n1 to n8, at two seconds after the moment of the documents."""
    by_name: dict[str, Source] = {
        "squeue.json": answer(squeue(dialect, queue)),
        "reservations.json": answer({"reservations": []}),
        **{name.replace("_", "."): each for name, each in documents.items()},
    }
    found = machine() if nodes is None else machine_of(nodes)
    return SlurmSite(Documents("Slurm", NOW + 200, "24.11", by_name), found)


def taken(site: SlurmSite, scenario: Scenario) -> Situation:
    """The snapshot of a site whose begin times are all the users' own."""
    return site.snapshot(site.scenario(scenario), lambda queued: queued.begin_unix)[0]


def left_alone(site: SlurmSite, scenario: Scenario) -> dict[str, str]:
    """Why each job is left alone."""
    return {each.job_id: each.reason for each in taken(site, scenario).left_alone}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_job_of_a_queue_is_lost(scenario: Scenario, dialect: Dialect) -> None:
    """Every job waits, has started, or is left alone with a reason; arrays task by task, two of which may run."""
    site = site_of(small_queue(), dialect=dialect)
    found = taken(site, scenario)
    queue = site.documents.queue()
    labels = {each.label for each in (*queue.jobs, *queue.finished)}
    left = {each.job_id: each.reason for each in found.left_alone}
    assert {each.id for each in found.jobs} | left.keys() == labels
    assert {each.id for each in found.pending} == {"2", "3", "6", "40_1"}
    assert {each.id: each.begin_unix for each in found.pending if each.begin_unix} == {"6": NOW + 3600}
    # 26.05 does not say it in its own dialect but by the command that submitted the job.
    assert [each.id for each in found.pending if each.exclusive] == ["3"]
    assert {each.job.id for each in found.running} == {"1", "40_0"}
    assert {each.job.id for each in found.started if not each.is_running} == {"50"}
    assert left["4"] == "its partition is not planned (a, b)"
    assert left["5"] == "it has no time limit"
    assert left["7"] == "it is held"
    assert left["8"] == "it waits for job 40_3, which is not planned"
    assert "heterogeneous" in left["9"]
    assert "licences" in left["10"]
    assert left["40_3"] == "its array may have only 2 tasks at once"


def test_jobs_wait_for_those_that_they_name(scenario: Scenario) -> None:
    """For one job, one task, or all tasks of an array; what is not in the queue any more is long gone."""
    queue = [
        job(1, job_state="RUNNING", start_time=NOW, nodes="n1"),
        job(2, dependency="afterok:1(unfulfilled),after:77(unfulfilled)"),
        job(3, array_job_id=3, array_task_string="1-2"),
        job(4, dependency="afterany:3_*(unfulfilled)"),
        job(5, dependency="after:3_2(unfulfilled):2(unfulfilled)"),
    ]
    found = {each.id: format_dependencies(each.after) for each in taken(site_of(queue), scenario).pending}
    assert found == {"2": "afterok:1", "3_1": "", "3_2": "", "4": "afterany:3_1,afterany:3_2", "5": "after:3_2,after:2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("singleton(unfulfilled)", "it waits for other jobs in a way that is not planned (singleton)"),
        ("afternotok:1(unfulfilled)", "it waits for other jobs in a way that is not planned (afternotok)"),
        ("after:1+5(unfulfilled)", "it waits for other jobs in a way that is not planned (after with a delay)"),
        ("afterok:2(unfulfilled)", "it waits for job 2, which is not planned"),
        ("afterok:1:4(unfulfilled)", "it waits for job 4, which is not planned"),
    ],
)
def test_who_waits_for_what_is_not_planned_is_left_alone(scenario: Scenario, text: str, why: str) -> None:
    """Also through a chain: job 4 waits for 2, which is held."""
    queue = [
        job(1),
        job(2, priority=0, state_reason="JobHeldUser", hold=True),
        job(3, dependency=text),
        job(4, dependency="afterok:2(unfulfilled)"),
    ]
    assert left_alone(site_of(queue), scenario)["3"] == why


def test_running_jobs_have_what_slurm_gave_them(scenario: Scenario) -> None:
    """The nodes by their Slurm names, CPUs and memory of each; the time limit stays."""
    found = taken(site_of(small_queue()), scenario)
    first = next(each for each in found.running if each.job.id == "1")
    assert first.nodes == (1, 2)
    assert first.job.units == (UnitGroup.of(2, {"cores": 32, "memory_gb": 32}),)
    assert (first.start_unix, first.job.requested_s, first.job.user) == (NOW + 1, 7200, "alice")


def test_a_running_job_without_a_limit_holds_its_nodes(scenario: Scenario) -> None:
    """For longer than any plan, and it is named."""
    endless = job(1, job_state="RUNNING", start_time=NOW, time_limit="unlimited", nodes="n1")
    found = taken(site_of([endless]), scenario)
    assert found.running[0].job.requested_s >= 365 * 86_400
    assert [each.reason for each in found.left_alone] == ["it runs without a time limit, so its end is not known"]


def test_what_runs_on_nodes_that_are_not_planned_is_no_concern_of_ours(scenario: Scenario) -> None:
    """Of a job on a node of ours and on another one, the part here counts; of one that is elsewhere, nothing."""
    rows = [
        job(number, job_state="RUNNING", start_time=NOW, nodes=nodes, cpus=4 * nodes.count("n"), tasks=4)
        for number, nodes in ((1, "n1,far1"), (2, "far2"))
    ]
    site = site_of(rows)
    found, intake = site.snapshot(site.scenario(scenario), lambda queued: None)
    assert [(each.job.id, each.job.unit_count) for each in found.running] == [("1", 1)]
    assert intake.repaired == {}


def test_jobs_that_share_more_than_a_node_has_hold_the_rest(scenario: Scenario) -> None:
    """Two running jobs of 20 CPUs on one node of 32: the second counts for 12, a third for nothing."""
    rows = [
        job(number, job_state="RUNNING", start_time=NOW + number, nodes="n1", cpus=20, tasks=20) for number in (1, 2, 3)
    ]
    site = site_of(rows)
    found, intake = site.snapshot(site.scenario(scenario), lambda queued: None)
    assert [each.job.total("cores") for each in found.running] == [20, 12]
    assert intake.repaired == {
        "started jobs hold less than Slurm says: others have the rest of their nodes": 1,
        "started jobs left out: others have all of their nodes": 1,
    }


def test_accounts_tell_the_past(scenario: Scenario) -> None:
    """A job that has ended, with a share of what it had of both nodes; clocks that differ put nothing in the future."""
    found = taken(site_of([], sacct_json=answer(sacct("24.11"))), scenario)
    (ended,) = found.started
    assert (ended.job.id, ended.start_unix, ended.end_unix, ended.nodes) == ("40_0", NOW + 5, NOW + 65, (6, 7))
    assert ended.job.units == (UnitGroup.of(2, {"cores": 16, "memory_gb": 32.768}),)
    late = {"submission": NOW, "start": NOW + 5, "end": NOW + 300, "limit": 30}
    (ended,) = taken(site_of([], sacct_json=answer(sacct("24.11", time=late))), scenario).started
    assert ended.end_unix == NOW + 200


def test_the_queue_knows_better_than_accounts_what_an_ended_job_had(scenario: Scenario) -> None:
    """Of 32 CPUs on two nodes, 20 and 12 where the queue still lists the job, and not 16 and 16."""
    ended = job(41, array_job_id=40, array_task_id=0, job_state="COMPLETED", start_time=NOW + 5, end_time=NOW + 65)
    ended |= {"nodes": "n[7-8]", "node_count": 2, "cpus": 32, "shares": {"n7": (20, 1000), "n8": (12, 3000)}}
    found = taken(site_of([ended], dialect="22.05", sacct_json=answer(sacct("22.05"))), scenario)
    (each,) = found.started
    assert (each.job.id, each.end_unix, each.nodes) == ("40_0", NOW + 65, (6, 7))
    assert [group.amount("cores") for group in each.job.units] == [20, 12]
    assert [group.amount("memory_gb") for group in each.job.units] == [1, 3]


def test_what_slurm_does_not_say_of_a_node_is_what_the_others_leave(scenario: Scenario) -> None:
    """It may list the first node alone: of 8 CPUs, 7 there and 1 on the other; of 12, 10 there and 1 on each of two."""
    few = job(1, job_state="RUNNING", start_time=NOW, nodes="n[1-2]", cpus=8, shares={"n1": (7, 7000)})
    more = job(2, job_state="RUNNING", start_time=NOW, nodes="n[3-5]", cpus=12, shares={"n3": (10, 10_000)})
    few |= {"tres_req_str": "cpu=8,mem=8000M,node=2"}
    more |= {"tres_req_str": "cpu=12,mem=12000M,node=3"}
    found = taken(site_of([few, more]), scenario).running
    groups = [
        [(group.count, group.amount("cores"), group.amount("memory_gb")) for group in each.job.units] for each in found
    ]
    assert groups == [[(1, 7, 7), (1, 1, 1)], [(1, 10, 10), (2, 1, 1)]]


def test_a_job_that_ended_at_no_known_time_holds_nothing(scenario: Scenario) -> None:
    """It has ended at its start, and does not run for ever."""
    ended = job(41, job_state="NODE_FAIL", start_time=NOW + 5, end_time=0, nodes="n7")
    (each,) = taken(site_of([ended]), scenario).started
    assert (each.start_unix, each.end_unix) == (NOW + 5, NOW + 5)


def test_a_job_that_was_put_back_counts_once(scenario: Scenario) -> None:
    """It waits now; what it did before is a note."""
    again = job(41, array_job_id=40, array_task_id=0)
    site = site_of([again], sacct_json=answer(sacct("24.11")))
    found, intake = site.snapshot(site.scenario(scenario), lambda queued: None)
    assert [each.id for each in found.jobs] == ["40_0"]
    assert any("wait or run again" in note for note in intake.notes)


def test_the_queue_is_in_the_order_of_slurm(scenario: Scenario) -> None:
    """By priority, then by number; and who may be held is the caller's to say."""
    queue = [job(1, priority=5), job(3, priority=9, submit_time=NOW + 5), job(2, priority=9, submit_time=NOW + 9)]
    site = site_of(queue)
    found, _ = site.snapshot(site.scenario(scenario), lambda queued: None, lambda queued, now: queued.job_id != 2)
    assert {each.id: each.queue_place for each in found.pending} == {"2": 0, "3": 1, "1": 2}
    assert {each.id: each.may_hold for each in found.pending} == {"1": True, "2": False, "3": True}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_slurm_does_not_start_is_not_planned(scenario: Scenario, dialect: Dialect) -> None:
    """Limits of a partition, a QOS or an account; who merely waits is planned."""
    reasons = ("QOSMaxJobsPerUserLimit", "AssocGrpCpuLimit", "PartitionDown", "Licenses", "InvalidQOS")
    waits = ("Priority", "Resources", "Dependency", "BeginTime", "None", "ReqNodeNotAvail")
    queue = [job(number, state_reason=reason) for number, reason in enumerate((*reasons, *waits), start=1)]
    found = left_alone(site_of(queue, dialect=dialect), scenario)
    assert found == {
        str(number): f"Slurm does not start it ({reason})" for number, reason in enumerate(reasons, start=1)
    }


def test_begin_times_of_ours_bind_nobody(scenario: Scenario) -> None:
    """Who knows the user's own says so."""
    site = site_of([job(6, eligible_time=NOW + 3600)])
    assert [each.begin_unix for each in taken(site, scenario).pending] == [NOW + 3600]

    def own_begin(queued: SlurmJob) -> int | None:
        return queued.submit_unix

    assert [each.begin_unix for each in site.snapshot(site.scenario(scenario), own_begin)[0].pending] == [None]


def test_jobs_run_on_nodes_of_their_partitions_alone(scenario: Scenario) -> None:
    """By the classes of these nodes; a job that may run on all names none."""
    nodes = [node("n1"), node("d1", partitions=("debug",))]
    found = taken(site_of([job(1), job(2, partition="batch,debug")], nodes), scenario)
    assert {each.id: each.classes for each in found.pending} == {"1": ("batch",), "2": ()}


def test_nodes_keep_their_names(scenario: Scenario) -> None:
    """As Slurm has them, also in lists."""
    made = site_of([], [node("n10"), node("n9"), node("fat", memory_mb=512_000)]).scenario(scenario)
    assert [made.cluster.node_name(number) for number in range(3)] == ["n9", "n10", "fat"]
    assert made.cluster.node_list([0, 1, 2]) == "n[9-10],fat"


def test_a_job_on_a_node_that_is_down_stops_nothing(scenario: Scenario) -> None:
    """Slurm says so between the fault and the end of the job."""
    nodes = [node("n1", states=("DOWN", "MIXED")), node("n2")]
    found = taken(site_of([job(1, job_state="RUNNING", start_time=NOW, nodes="n1")], nodes), scenario)
    assert [outage.state for outage in found.outages] == ["drain"]


def test_the_scenario_gets_the_nodes_of_slurm(scenario: Scenario) -> None:
    """In the place of its own, with its power limit and the idle power of `slurm.idle_w`."""
    limited = replace(scenario.cluster, power_limit_w=5000.0)
    chosen = SlurmSection.model_validate({"idle_w": 70})
    made = site_of([]).scenario(scenario.model_copy(update={"cluster": limited, "slurm": chosen}))
    assert (made.cluster.node_count, made.cluster.power_limit_w, made.cluster.classes[0].idle_w) == (8, 5000.0, 70.0)
    assert made.as_dict()["cluster"]["classes"][0]["count"] == 8


MANIFEST = {
    "kind": "slurm snapshot",
    "moment_unix": NOW,
    "slurm": "22.05.8",
    "commands": {"squeue.json": "squeue", "nodes.json": "sinfo", "reservations.json": "scontrol"},
    "remarks": ["no accounts"],
}


def save(folder: Path, **changes: object) -> Path:
    """A saved folder, with these changes of its manifest."""
    documents = {
        "squeue.json": squeue("22.05", []),
        "nodes.json": {"nodes": []},
        "reservations.json": reservations("22.05"),
        "manifest.json": {**MANIFEST, **changes},
    }
    for name, content in documents.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_saved_folder_says_the_same(tmp_path: Path) -> None:
    """Its documents are files, which a run can name."""
    found = read_saved(save(tmp_path))
    assert (found.moment_unix, found.version, found.remarks) == (NOW, "22.05.8", ("no accounts",))
    assert [path.name for path in found.files] == list(MANIFEST["commands"])  # type: ignore[call-overload]
    assert len(found.reservations()) == 2
    assert found.accounts().ended == ()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"kind": "x"}, r"manifest\.json: is no manifest \(it is of another kind\); restore it"),
        ({"moment_unix": "now"}, r"manifest\.json: is no manifest \(moment_unix is no time\)"),
        ({"slurm": 3}, r"manifest\.json: is no manifest \(slurm and remarks must be text\)"),
        ({"commands": {"squeue.json": ""}}, r"manifest\.json: does not name the documents of a snapshot"),
        ({"commands": {**MANIFEST["commands"], "../x": ""}}, r"does not name the documents"),  # type: ignore[dict-item]
        ({"commands": {**MANIFEST["commands"], "sacct.json": ""}}, r"sacct\.json: is missing"),  # type: ignore[dict-item]
    ],
)
def test_a_damaged_folder_is_one_line(tmp_path: Path, changes: dict[str, object], line: str) -> None:
    """With the file and what to do."""
    with pytest.raises(InputError, match=line):
        read_saved(save(tmp_path, **changes))


def test_what_is_no_saved_folder_is_one_line(tmp_path: Path) -> None:
    """No folder, or one of something else."""
    with pytest.raises(InputError, match="no such folder; save one with `plan slurm snapshot"):
        read_saved(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        read_saved(tmp_path)


def test_clocks_that_differ_put_no_start_in_the_future(scenario: Scenario) -> None:
    """A job that started a second ago by the controller's clock, and in a minute by ours."""
    early = job(1, job_state="RUNNING", start_time=NOW + 260, nodes="n1")
    (running,) = taken(site_of([early]), scenario).running
    assert running.start_unix == NOW + 200


def test_jobs_in_between_are_named(scenario: Scenario) -> None:
    """Suspended: neither planned nor lost; its cores are for others."""
    stopped = job(1, job_state="SUSPENDED", start_time=NOW, nodes="n1")
    assert left_alone(site_of([stopped]), scenario) == {
        "1": "Slurm has it as SUSPENDED, neither waiting nor running",
    }
    assert taken(site_of([stopped]), scenario).started == ()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("limit", [600, "unlimited"])
def test_a_job_that_completes_holds_its_nodes_for_another_minute(
    scenario: Scenario, dialect: Dialect, limit: object
) -> None:
    """Whatever its limit; what waits for its end is planned after it, and accounts that have its end are not asked."""
    ends = job(41, job_state="COMPLETING", start_time=NOW + 5, end_time=NOW + 65, time_limit=limit, nodes="n[7-8]")
    ends |= {"array_job_id": 40, "array_task_id": 0, "node_count": 2, "cpus": 64, "tasks": 64}
    waits = job(50, dependency="afterok:41(unfulfilled)")
    site = site_of([ends, waits], dialect=dialect, sacct_json=answer(sacct(dialect)))
    found = taken(site, scenario)
    (running,) = found.started
    assert (running.job.id, running.is_running, running.nodes) == ("40_0", True, (6, 7))
    assert running.job.total("cores") == 64
    assert running.start_unix + running.job.planned_s == found.moment_unix + 60
    assert found.left_alone == ()
    assert [each.job_id for each in found.pending[0].after] == ["40_0"]


def test_a_job_that_completes_gives_way_to_one_that_runs(scenario: Scenario) -> None:
    """Both have 20 of 32 CPUs, by what Slurm says: the one that runs has them, the other the rest."""
    ends = job(1, job_state="COMPLETING", start_time=NOW, nodes="n1", cpus=20, tasks=20)
    runs = job(2, job_state="RUNNING", start_time=NOW + 100, nodes="n1", cpus=20, tasks=20)
    found = taken(site_of([ends, runs], dialect="22.05"), scenario)
    assert {each.job.id: each.job.total("cores") for each in found.running} == {"1": 12, "2": 20}
