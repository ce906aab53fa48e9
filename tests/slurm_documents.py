"""Small documents as Slurm's commands write them, in the dialects of three versions, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from planner.inputs.slurm.json_document import DocumentAnswer

Dialect = Literal["22.05", "24.11", "26.05"]
DIALECTS: tuple[Dialect, ...] = ("22.05", "24.11", "26.05")
UNLIMITED = "unlimited"
NOW = 1794701014
"""A moment at which the jobs below are submitted."""

_PARSERS = {"22.05": "openapi/v0.0.38", "24.11": "data_parser/v0.0.42", "26.05": "data_parser/v0.0.45"}
_NUMBERS = frozenset(
    (
        *("array_job_id", "array_task_id", "array_max_tasks", "het_job_id", "het_job_offset", "priority"),
        *("submit_time", "eligible_time", "start_time", "end_time", "time_limit", "deadline"),
        *("node_count", "max_nodes", "cpus", "tasks", "cpus_per_task", "tasks_per_node", "minimum_cpus_per_node"),
        *("memory_per_node", "memory_per_cpu"),
    )
)
_DEFAULTS: dict[str, Any] = {
    "account": "physics",
    "user_name": "alice",
    "name": "job",
    "partition": "batch",
    "qos": "normal",
    "comment": "",
    "job_state": "PENDING",
    "state_reason": "Priority",
    "submit_time": NOW,
    "eligible_time": NOW,
    "start_time": 0,
    "end_time": 0,
    "time_limit": 60,
    "deadline": 0,
    "node_count": 1,
    "max_nodes": 1,
    "cpus": 4,
    "tasks": 4,
    "cpus_per_task": None,
    "tasks_per_node": 0,
    "minimum_cpus_per_node": 1,
    "memory_per_node": None,
    "memory_per_cpu": 1000,
    "tres_req_str": "cpu=4,mem=4000M,node=1,billing=4",
    "tres_per_node": "",
    "tres_per_job": "",
    "tres_per_task": "",
    "tres_per_socket": "",
    "priority": 100,
    "dependency": "",
    "array_job_id": 0,
    "array_task_id": None,
    "array_max_tasks": 0,
    "array_task_string": "",
    "het_job_id": 0,
    "het_job_offset": 0,
    "licenses": "",
    "resv_name": "",
    "nodes": "",
    "required_nodes": "",
    "excluded_nodes": "",
    "features": "",
    "flags": [],
    "burst_buffer": "",
    "gres_detail": [],
}


def job(job_id: int, **values: Any) -> dict[str, Any]:
    """A job in the words of 22.05; ``exclusive=True`` and ``time_limit=UNLIMITED`` are spelled by `squeue`."""
    return {**_DEFAULTS, "job_id": job_id, **values}


def small_queue() -> list[dict[str, Any]]:
    """A running job on two whole nodes, several that wait, and one that has ended."""
    return [
        job(
            1,
            job_state="RUNNING",
            state_reason="None",
            start_time=NOW + 1,
            end_time=NOW + 7201,
            time_limit=120,
            nodes="n[2-3]",
            cpus=64,
            tasks=64,
            max_nodes=0,
            node_count=2,
            exclusive=True,
            tres_req_str="cpu=64,mem=62.50G,node=2,billing=64",
            gres_detail=["gpu:4(IDX:0-3)", "gpu:2(IDX:0,2)"],
            shares={"n2": (32, 32000), "n3": (32, 32000)},
        ),
        job(2, name="gpus", tres_per_node="gres:gpu:4", max_nodes=2, tres_req_str="cpu=8,mem=8000M,node=2,billing=8"),
        job(3, name="whole", exclusive=True, memory_per_cpu=None, tres_req_str="cpu=4,mem=125G,node=1,billing=4"),
        job(4, name="range", node_count=4, max_nodes=6, tres_req_str="cpu=40,mem=40000M,node=2", partition="a,b"),
        job(5, name="endless", time_limit=UNLIMITED),
        job(6, name="late", deadline=NOW + 50_000, eligible_time=NOW + 3600, comment="power_w=1050;flex=2h"),
        job(7, name="held", priority=0, state_reason="JobHeldUser", eligible_time=0, hold=True),
        job(8, name="after", dependency="afterok:1(unfulfilled),afterany:40_*(unfulfilled)", eligible_time=0),
        job(9, name="part", het_job_id=9, het_job_offset=0),
        job(10, name="licensed", licenses="matlab:2", required_nodes="n[1-2]", excluded_nodes="n8", features="ib&a"),
        job(40, name="array", array_job_id=40, array_max_tasks=2, array_task_string="1,3,5-9:2%2", start_time=NOW + 99),
        job(41, name="array", array_job_id=40, array_task_id=0, job_state="RUNNING", start_time=NOW, nodes="n1"),
        job(50, name="over", job_state="COMPLETED", start_time=NOW - 100, end_time=NOW - 50, nodes="n7"),
    ]


def squeue(dialect: Dialect, jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``squeue --json`` writes of such jobs."""
    return _document(dialect, "jobs", [_job(dialect, each) for each in jobs])


def answer(document: object, command: str = "squeue --json") -> DocumentAnswer:
    """The document as a command has written it."""
    return DocumentAnswer(command, json.dumps(document).encode("utf-8", "surrogatepass"))


def nodes(dialect: Dialect) -> dict[str, Any]:
    """What ``scontrol show node --json`` writes of three nodes."""
    rows: list[dict[str, Any]] = [
        {"name": "n1", "state": ["MIXED"], "gres": "gpu:a100:4(S:0,1),shard:8", "features": "ib,a100", "reason": ""},
        {"name": "n2", "state": ["IDLE", "DRAIN", "RESERVED", "MAINTENANCE"], "reason": "fans\n", "features": ""},
        {"name": "n3", "state": ["DOWN", "NOT_RESPONDING"], "gres": "(null)", "features": ""},
    ]
    for row in rows:
        row |= {"cpus": 32, "real_memory": 128000, "partitions": ["batch", "debug"], "free_mem": 1000, "boot_time": 0}
        row.setdefault("gres", "gpu:4")
        if dialect == "22.05":
            row["state_flags"] = row["state"][1:]
            row["state"] = row["state"][0].lower()
        else:
            row["features"] = [name for name in row["features"].split(",") if name]
            row["free_mem"] = _wrapped(1000)
    return _document(dialect, "nodes", rows)


def reservations(dialect: Dialect) -> dict[str, Any]:
    """What ``scontrol show reservation --json`` writes of two reservations."""
    rows: list[dict[str, Any]] = [
        {"name": "fans", "node_list": "n[1-2]", "start_time": NOW, "end_time": NOW + 60, "flags": ["MAINT"]},
        {"name": "course", "node_list": "", "start_time": NOW, "end_time": NOW + 99, "flags": [], "users": "bob,eve"},
    ]
    if dialect != "22.05":
        rows = [{key: _wrapped(value) if "_time" in key else value for key, value in row.items()} for row in rows]
    return _document(dialect, "reservations", rows)


def sacct(dialect: Dialect, *, energy: object = 500_000, batch: object = None, **values: Any) -> dict[str, Any]:
    """What ``sacct --json`` writes of one job, with this energy of its own and of its batch step."""
    old = dialect == "22.05"
    row = {
        "job_id": 41,
        "name": "array",
        "user": "bob",
        "account": "physics",
        "partition": "batch",
        "comment": {"administrator": None, "job": "flex=1h", "system": None},
        "nodes": "n[7-8]",
        "array": {"job_id": 40, "task_id": 0 if old else _wrapped(0)},
        "state": {"current": "COMPLETED" if old else ["COMPLETED"], "reason": "None"},
        "time": {"submission": NOW, "start": NOW + 5, "end": NOW + 65, "limit": 30 if old else _wrapped(30)},
        "tres": {
            "allocated": [
                {"type": "cpu", "name": None, "id": 1, "count": 32},
                {"type": "mem", "name": None, "id": 2, "count": 65536},
                {"type": "energy", "name": None, "id": 3, "count": energy},
                {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 8},
            ]
        },
        "steps": [
            {"step": {"id": "41.0", "name": "srun"}, "statistics": {"energy": {"consumed": 7}}},
            {
                "step": {"id": "batch" if old else "41.batch", "name": "batch"},
                "statistics": {"energy": {"consumed": batch}},
            },
        ],
        **values,
    }
    return _document(dialect, "jobs", [row])


def _document(dialect: Dialect, key: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    plugin = {"type": _PARSERS[dialect]} if dialect == "22.05" else {"type": "", "data_parser": _PARSERS[dialect]}
    return {"meta": {"plugin": plugin}, "errors": [], key: rows}


def _wrapped(value: object) -> dict[str, object]:
    is_set = value not in (None, UNLIMITED)
    return {"set": is_set, "infinite": value == UNLIMITED, "number": value if is_set else 0}


def _job(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(given)
    exclusive, shares, hold = row.pop("exclusive", False), row.pop("shares", {}), row.pop("hold", False)
    if dialect == "22.05":
        row["shared"] = "none" if exclusive else None
        row["time_limit"] = None if row["time_limit"] == UNLIMITED else row["time_limit"]
        row["job_resources"] = _resources_22_05(row, shares) if shares else None
        return row
    row |= {key: _wrapped(value) for key, value in row.items() if key in _NUMBERS}
    row["job_state"] = [row["job_state"]]
    row["tres_per_node"] = row["tres_per_node"].replace("gres:", "gres/")
    row["hold"] = hold
    row["shared"] = ["none"] if exclusive and dialect == "24.11" else []
    row["job_resources"] = _resources(shares) if shares else None
    if dialect == "26.05":
        row["submit_line"] = f"sbatch -N1 {'--exclusive ' if exclusive else ''}--wrap 'run --exclusive'"
    return row


def _resources_22_05(row: Mapping[str, Any], shares: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    return {
        "nodes": row["nodes"],
        "allocated_cores": sum(cpus for cpus, _ in shares.values()),
        "allocated_nodes": [
            {
                "nodename": name,
                "memory_allocated": memory,
                "sockets": {"0": {"cores": {str(core): "allocated" for core in range(cpus)} | {"99": "unassigned"}}},
            }
            for name, (cpus, memory) in shares.items()
        ],
    }


def _resources(shares: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    allocation = [
        {"name": name, "cpus": {"count": cpus, "used": 0}, "memory": {"used": 0, "allocated": memory}}
        for name, (cpus, memory) in shares.items()
    ]
    return {"nodes": {"list": "", "whole": True, "allocation": allocation}, "cpus": 64}
