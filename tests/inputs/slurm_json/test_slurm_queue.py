"""Claims about Slurm's queue: the same records whatever the version, and nothing dropped."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from planner.errors import InputError
from planner.inputs.slurm.job import AllocatedNode, SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.notations import Requirement
from planner.inputs.slurm.queue import Queue, read_queue
from tests.slurm_documents import DIALECTS, NOW, UNLIMITED, Dialect, answer, job, small_queue, squeue


def read(dialect: Dialect, *jobs: dict[str, Any]) -> Queue:
    return read_queue(answer(squeue(dialect, jobs or small_queue())))


def one(dialect: Dialect = "24.11", **values: Any) -> SlurmJob:
    (found,) = read(dialect, job(7, **values)).jobs
    return found


def without_sharing(queue: Queue) -> Queue:
    """The queue with all that is said about whole nodes taken out."""
    return Queue(tuple(replace(each, request=replace(each.request, exclusive=None)) for each in queue.records))


def test_three_dialects_give_equal_records() -> None:
    """A queue reads the same from 22.05, 24.11 and 26.05; 26.05 alone cannot tell which jobs share their nodes."""
    first, second, third = (read(dialect) for dialect in DIALECTS)
    assert first == second
    assert without_sharing(first) == without_sharing(third)
    assert {each.label: each.request.exclusive for each in first.jobs} == {
        each.label: each.label in ("1", "3") for each in first.jobs
    }
    assert {each.label: each.request.exclusive for each in third.jobs} == {
        each.label: True if each.label in ("1", "3") else None for each in first.jobs
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_runs(dialect: Dialect) -> None:
    """Nodes with their CPUs, memory and GPUs; real start, and no end yet."""
    running = read(dialect).of_state("running")
    assert [each.label for each in running] == ["1", "40_0"]
    first = running[0]
    assert first.allocated == (AllocatedNode("n2", 32, 32000, 4), AllocatedNode("n3", 32, 32000, 2))
    assert (first.start_unix, first.end_unix, first.limit_s) == (NOW + 1, None, 7200)
    # 62.50 GB of 1024 MB.
    assert first.request.memory_in_all_mb == 64000
    assert running[1].allocated == (AllocatedNode("n1"),)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_finished_jobs_are_apart(dialect: Dialect) -> None:
    """22.05 returns them whatever it is asked for; they are neither mixed in nor lost."""
    queue = read(dialect)
    assert [each.label for each in queue.finished] == ["50"]
    assert "50" not in {each.label for each in queue.jobs}
    assert queue.finished[0].end_unix == NOW - 50


@pytest.mark.parametrize("dialect", DIALECTS)
def test_waiting_tasks_of_an_array(dialect: Dialect) -> None:
    """One record per task that waits, with the array's number and its limit of tasks at once."""
    tasks = [each for each in read(dialect).jobs if each.job_id == 40]
    assert [each.label for each in tasks] == ["40_1", "40_3", "40_5", "40_7", "40_9"]
    assert {(each.array_limit, each.array_job_id, each.start_unix) for each in tasks} == {(2, 40, None)}
    assert not any(each.obstacles for each in tasks)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nodes_wanted(dialect: Dialect) -> None:
    """The least is in tres_req_str: node_count of a range is what Slurm would give today."""
    jobs = {each.label: each.request for each in read(dialect).jobs}
    assert (jobs["4"].min_nodes, jobs["4"].max_nodes) == (2, 6)
    assert jobs["1"].max_nodes is None
    assert (jobs["10"].nodes, jobs["10"].excluded_nodes, jobs["10"].features) == (("n1", "n2"), ("n8",), "ib&a")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_times(dialect: Dialect) -> None:
    """A job begins when it may; 0 is no time."""
    jobs = {each.label: each for each in read(dialect).jobs}
    assert (jobs["6"].begin_unix, jobs["6"].deadline_unix) == (NOW + 3600, NOW + 50_000)
    assert (jobs["7"].begin_unix, jobs["7"].deadline_unix) == (None, None)
    assert (jobs["2"].start_unix, jobs["2"].end_unix) == (None, None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_why_jobs_cannot_be_planned(dialect: Dialect) -> None:
    """Each such job is there, with its reason; the others have none."""
    assert {each.label: each.obstacles for each in read(dialect).jobs if each.obstacles} == {
        "5": ("it has no time limit",),
        "7": ("it is held",),
        "9": ("it is a part of the heterogeneous job 9",),
        "10": ("it needs licences (matlab:2)",),
    }


@pytest.mark.parametrize(
    ("values", "obstacle"),
    [
        ({"resv_name": "course"}, "it runs in the reservation course"),
        ({"burst_buffer": "#BB x"}, "it needs a burst buffer"),
        ({"flags": ["CRON_JOB"]}, "it belongs to scrontab, which sets its start"),
        ({"tres_per_node": "gres/shard:2"}, "it needs resources that are not planned (gres/shard:2)"),
        ({"tres_per_socket": "gres/gpu:1"}, "it needs resources that are not planned (GPUs per socket)"),
        ({"time_limit": 0}, "its time limit of 0 s is not from 1 to 3,162,240,000 s"),
        ({"time_limit": 2**32 - 3}, "its time limit of 257698037580 s is not from 1 to 3,162,240,000 s"),
        ({"job_state": "SUSPENDED"}, "Slurm has it as SUSPENDED, neither waiting nor running"),
        ({"job_state": "NEW_STATE"}, "Slurm has it as NEW_STATE, neither waiting nor running"),
        ({"job_state": "REQUEUE_HOLD"}, "it is held"),
        (
            {"dependency": "aftercorr:42_*(unfulfilled)"},
            "it depends on other jobs in a way that cannot be planned (aftercorr)",
        ),
        ({"dependency": "afterok:1?afterok:2"}, "it waits for any one of several jobs"),
        ({"dependency": "afterok:1(failed)"}, "its dependency has failed: Slurm will never start it"),
        ({"dependency": "x\x1b!"}, r"its dependency 'x\x1b!' cannot be read"),
        ({"licenses": "a\nb"}, r"it needs licences (a\nb)"),
        (
            {"array_task_string": "1,3,5,..."},
            "Slurm has cut short the list of its array's tasks; set SLURM_BITSTR_LEN=0",
        ),
        ({"array_task_string": "0-100000"}, "its array has more than 100,000 waiting tasks"),
    ],
)
def test_further_obstacles(values: dict[str, Any], obstacle: str) -> None:
    """One plain and printable sentence per reason."""
    assert one(**values).obstacles == (obstacle,)


def test_running_jobs_of_unknown_end_or_place_say_so() -> None:
    """They hold nodes that no plan can count on."""
    found = one(job_state="RUNNING", start_time=NOW, time_limit=UNLIMITED)
    assert found.obstacles == (
        "it runs without a time limit, so its end is not known",
        "Slurm does not say on which nodes it runs",
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"tres_per_node": "gres:gpu:4"}, (4, None, "")),
        ({"tres_per_node": "gres/gpu:a100:2"}, (2, None, "a100")),
        ({"tres_per_node": "gres/gpu:a100=2"}, (2, None, "a100")),
        ({"tres_per_node": "gpu:2"}, (2, None, "")),
        ({"tres_per_node": "gres:gpu"}, (1, None, "")),
        ({"tres_per_node": "gres/gpu:a100"}, (1, None, "a100")),
        ({"tres_per_node": "gres:gpu:a100:2,gres:gpu:v100:1"}, (3, None, "a100,v100")),
        ({"tres_per_job": "gres/gpu:6", "max_nodes": 0}, (None, 6, "")),
        ({"tres_per_job": "gres/gpu:3", "max_nodes": 1}, (3, 3, "")),
        ({"tres_per_task": "cpu=2,gres/gpu=1", "tasks": 8, "max_nodes": 2}, (None, 8, "")),
        ({"tres_per_task": "gres:gpu:1", "tasks": 8, "tasks_per_node": 4, "max_nodes": 2}, (4, 8, "")),
        ({"tres_req_str": "cpu=4,node=2,gres/gpu=8,gres/gpu:a100=8", "max_nodes": 2}, (None, 8, "")),
        ({"tres_req_str": "cpu=4,node=2,gres/gpu:a100=8", "max_nodes": 2}, (None, 8, "")),
        ({"tres_per_node": "gres:none"}, (None, None, "")),
    ],
)
def test_spellings_of_gpus(values: dict[str, Any], expected: tuple[int | None, int | None, str]) -> None:
    """By node where that is certain, else in all, with the type where it is said."""
    request = one("22.05", **values).request
    assert (request.gpus_per_node, request.gpus_in_all, request.gpu_type) == expected


def test_states_of_several_words() -> None:
    """A job that completes or was stopped still holds its nodes; one that is being set up runs."""

    def state(*words: str) -> str:
        document = squeue("24.11", [job(7, nodes="n1", start_time=NOW)])
        document["jobs"][0]["job_state"] = list(words)
        queue = read_queue(answer(document))
        return (*queue.jobs, *queue.finished)[0].state

    assert state("COMPLETED", "COMPLETING") == "running"
    assert state("PENDING", "COMPLETING") == "running"
    assert state("RUNNING", "STOPPED") == "running"
    assert state("RUNNING", "SUSPENDED") == "other"
    assert state("RUNNING", "CONFIGURING") == "running"
    assert state("CONFIGURING") == "running"
    assert state("PENDING", "REQUEUED") == "pending"
    assert state("CANCELLED") == "finished"
    assert one("22.05", job_state="COMPLETING").state == "running"


def test_dependencies() -> None:
    """Read into what they mean, with the text kept."""
    text = "after:12+5(unfulfilled),afterok:1_2:3,singleton(unfulfilled),afternotok:40_*(unfulfilled)"
    found = one(dependency=text)
    assert found.dependency.text == text
    assert found.dependency.requirements == (
        Requirement("after", 12, None, 300, "unfulfilled"),
        Requirement("afterok", 1, 2),
        Requirement("afterok", 3),
        Requirement("singleton", status="unfulfilled"),
        Requirement("afternotok", 40, None, 0, "unfulfilled"),
    )
    assert found.obstacles == ()


def test_names_are_data() -> None:
    """Whatever a user calls a job or writes beside it comes through as it is."""
    odd = "a \"b\" 'c'\n\x00\x1b[31m,;\ud800é"
    found = one(name=odd, comment=odd, qos=odd)
    assert (found.name, found.comment, found.qos) == (odd, odd, odd)


def test_bytes_that_are_no_text_do_not_hide_the_queue() -> None:
    """One job name in another encoding is repaired; the rest is read as it is."""
    content = json.dumps(squeue("24.11", small_queue()), ensure_ascii=False).encode().replace(b"licensed", b"licen\xe9")
    queue = read_queue(DocumentAnswer("squeue --json", content))
    assert len(queue.jobs) == len(read("24.11").jobs)
    assert "licen\ufffd" in {each.name for each in queue.jobs}


@pytest.mark.parametrize(
    "value",
    [
        None,
        -2,
        2**32 - 1,
        2**32 - 2,
        2**64 - 1,
        "",
        {"set": True, "infinite": True, "number": 5},
        {"set": False, "number": 5},
    ],
)
def test_marks_for_no_value(value: object) -> None:
    """Null, what is not set, what is infinite, and Slurm's own numbers for these."""
    document = squeue("24.11", [job(7)])
    document["jobs"][0] |= {"time_limit": value, "deadline": value, "tasks": value}
    (found,) = read_queue(answer(document)).jobs
    assert (found.limit_s, found.deadline_unix, found.request.tasks) == (None, None, None)


@pytest.mark.parametrize("value", [30, "30", 30.0, {"set": True, "infinite": False, "number": 30}, {"number": "30"}])
def test_ways_to_write_a_number(value: object) -> None:
    """A number, its digits, or an object with marks."""
    document = squeue("24.11", [job(7)])
    document["jobs"][0]["time_limit"] = value
    assert read_queue(answer(document)).jobs[0].limit_s == 1800


def test_held_without_a_word() -> None:
    """22.05 has no key for it: a priority of 0 says it."""
    assert one("22.05", priority=0).held
    assert not one("22.05", priority=1).held


@pytest.mark.parametrize("whole", [True, False])
def test_whole_nodes_of_what_runs(whole: bool) -> None:
    """26.05 says it of running jobs by their allocation."""
    document = squeue("26.05", [job(7, job_state="RUNNING", nodes="n1", start_time=NOW, shares={"n1": (4, 4000)})])
    document["jobs"][0]["job_resources"]["nodes"]["whole"] = whole
    assert read_queue(answer(document)).jobs[0].request.exclusive is whole


def test_cores_of_two_threads() -> None:
    """22.05 counts cores of a node and CPUs of a job: 64 CPUs on 32 cores are two for each."""
    document = squeue(
        "22.05", [job(7, job_state="RUNNING", nodes="n1", start_time=NOW, cpus=64, shares={"n1": (32, 9)})]
    )
    assert read_queue(answer(document)).jobs[0].allocated == (AllocatedNode("n1", 64, 9),)


def test_control_characters_that_are_not_escaped() -> None:
    """A careless writer's line break inside a name is part of the name."""
    content = json.dumps(squeue("24.11", [job(7, name="a|b")])).replace("a|b", "a\n\tb").encode()
    assert read_queue(DocumentAnswer("squeue --json", content)).jobs[0].name == "a\n\tb"


NUMBER = "null or {set, infinite, number}"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("time_limit", "soon", f".time_limit is 'soon', expected whole minutes from 0, {NUMBER}"),
        ("time_limit", True, f".time_limit is true, expected whole minutes from 0, {NUMBER}"),
        ("time_limit", {"set": 1}, f".time_limit is an object, expected whole minutes from 0, {NUMBER}"),
        (
            "time_limit",
            {"number": -5},
            f".time_limit is an object of number -5, expected whole minutes from 0, {NUMBER}",
        ),
        ("job_state", 5, ".job_state is 5, expected text or a list of texts"),
        ("name", ["x"], ".name is a list, expected text"),
        ("deadline", -5, f".deadline is -5, expected Unix seconds from 0, {NUMBER}"),
        ("deadline", 10**12, f".deadline is 1000000000000, expected Unix seconds from 0, {NUMBER}"),
        ("cpus", 1.5, f".cpus is 1.5, expected a whole number from 0, {NUMBER}"),
        ("job_id", None, ".job_id is null, expected a number from 1"),
        ("job_id", 1, " and jobs[0] are both job 1; each may stand there once"),
        ("required_nodes", "n[1-", ".required_nodes: cannot read 'n[1-' as nodes; write"),
        ("array_task_string", "9-1", ".array_task_string: '9-1' is no list of array tasks; expected text such as"),
        ("tres_req_str", "node=x", ".tres_req_str: node is 'x', expected a whole number"),
    ],
)
def test_wrong_values_are_named(key: str, value: object, problem: str) -> None:
    """File or command, place, what was found, what is expected."""
    document = squeue("22.05", small_queue())
    document["jobs"][3][key] = value
    with pytest.raises(InputError) as caught:
        read_queue(answer(document))
    assert str(caught.value).startswith(f"squeue --json: jobs[3]{problem}")


def test_errors_of_slurm_are_passed_on() -> None:
    """A list that Slurm itself calls incomplete is not planned from."""
    document = squeue("24.11", []) | {"errors": [{"description": "no controller", "error": "Unable to contact"}]}
    with pytest.raises(InputError, match="Slurm reports 'no controller: Unable to contact'"):
        read_queue(answer(document))


def test_other_documents_are_refused() -> None:
    """What another command wrote is no queue."""
    with pytest.raises(InputError, match="has no list 'jobs'; expected the output of `squeue --json`"):
        read_queue(answer({"nodes": []}))
    with pytest.raises(InputError, match="is not JSON"):
        read_queue(DocumentAnswer("squeue --json", b"slurm_load_jobs error: Unable to contact"))
