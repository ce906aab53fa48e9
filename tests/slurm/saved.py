"""Slurm where there is none: its documents in a folder, and its commands as shell scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.slurm_documents import job, squeue


def fake(folder: Path, **scripts: str) -> str:
    """A folder of commands that are shell scripts."""
    folder.mkdir(exist_ok=True)
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def save(folder: Path, rows: Sequence[Mapping[str, Any]], moment: int, *, full_s: int = 3600) -> None:
    """A saved snapshot of these jobs on one node that is full for an hour, or so many seconds."""
    limit = 1 + full_s // 60
    filler = job(1, job_state="RUNNING", start_time=moment - 60, submit_time=moment - 60, time_limit=limit, nodes="n1")
    filler |= {"cpus": 32, "tasks": 32}
    nodes = [{"name": "n1", "cpus": 32, "real_memory": 128000, "state": "mixed", "partitions": ["batch"]}]
    documents = {
        "squeue.json": squeue("22.05", [filler, *rows]),
        "nodes.json": {"nodes": nodes},
        "reservations.json": {"reservations": []},
        "manifest.json": {
            "kind": "slurm snapshot",
            "moment_unix": moment,
            "slurm": "22.05.8",
            "commands": dict.fromkeys(("squeue.json", "nodes.json", "reservations.json"), "x"),
            "remarks": [],
        },
    }
    folder.mkdir()
    for name, content in documents.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
