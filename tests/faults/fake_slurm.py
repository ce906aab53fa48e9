"""A Slurm that remembers: its commands are scripts, its queue a file of the site, so that a state can be put back."""

from __future__ import annotations

import datetime as dt
import json
import sys
import time
from pathlib import Path

from planner.slurm.journal import read_ours
from tests.days import small_table
from tests.slurm_documents import job, squeue

QUEUE = "slurm-queue.json"
JOBS = (11, 12, 13)

SCRIPT = f"""#!{sys.executable} -IS
import json, os, re, sys
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))), {QUEUE!r})
if words == ["--version"]:
    print("slurm 22.05.8")
elif name == "squeue":
    try:
        sys.stdout.buffer.write(open(path, "rb").read())
    except OSError:
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller")
elif name == "sinfo":
    node = {{"cpus": 32, "real_memory": 128000, "state": "idle", "partitions": ["batch"]}}
    print(json.dumps({{"nodes": [{{"name": name, **node}} for name in ("n1", "n2")]}}))
elif words[:2] == ["show", "reservation"]:
    print("No reservations in the system" if "--oneliner" in words else json.dumps({{"reservations": []}}))
elif name == "scontrol" and not words:
    try:
        queue = json.load(open(path))
        jobs = {{int(row["job_id"]): row for row in queue["jobs"]}}
    except Exception:
        sys.exit("scontrol: error: the queue cannot be read")
    for line in sys.stdin:
        change = re.fullmatch(r"update JobId=(\\d+) StartTime=uts(\\d+)\\n", line)
        assert change, line
        if int(change[1]) in jobs:
            jobs[int(change[1])] |= {{"eligible_time": int(change[2]), "start_time": int(change[2])}}
        with open(path + ".new", "w") as file:
            json.dump(queue, file)
        os.replace(path + ".new", path)
else:
    sys.exit(1)
"""

SITE = """\
description: Nodes and jobs of a Slurm that remembers
zone: {zone}
jobs: {{source: slurm}}
weather: {{source: constant, temperature_c: 12}}
tariff:
  kind: bands
  eur_per_kwh: 0.01
  bands: [{{from: "00:00", to: "12:00", eur_per_kwh: 2.0}}]
cooling: {{table: ../tables/small.csv}}
power: {{w_per_core: 10}}
revenue: {{eur_per_core_hour: 0.05}}
rules: {{max_delay: 12h}}
goal: {{waiting: 0.001}}
slurm: {{partitions: [batch], opt_in: {{partitions: [batch]}}}}
"""


def write_slurm_site(site: Path) -> None:
    """A site in whose zone it is early morning, its commands in ``bin``, and three jobs for a cheaper noon."""
    hours = (dt.datetime.now(dt.UTC).hour - 4) % 24
    hours -= 24 if hours > 12 else 0
    (site / "bin").mkdir()
    for name in ("squeue", "sinfo", "scontrol"):
        (site / "bin" / name).write_text(SCRIPT)
        (site / "bin" / name).chmod(0o755)
    moment = int(time.time()) - 600
    rows = [job(each, submit_time=moment, eligible_time=moment, time_limit=60) for each in JOBS]
    (site / QUEUE).write_text(json.dumps(squeue("22.05", rows)))
    texts = {"scenarios/slurm.yaml": SITE.format(zone=f"Etc/GMT{hours:+d}"), "tables/small.csv": small_table()}
    for name, text in texts.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)


def begins(site: Path) -> dict[str, bytes]:
    """The begin time of each job in the queue, as results of their own; none where a site has no such Slurm."""
    if not (site / QUEUE).is_file():
        return {}
    rows = json.loads((site / QUEUE).read_text())["jobs"]
    times = {row["job_id"]: row["eligible_time"] for row in rows}
    return {f"queue/{name}/begin": str(t).encode() if t > time.time() else b"past" for name, t in times.items()}


def require_journalled(site: Path, before: dict[str, bytes]) -> None:
    """Fails when Slurm has a begin time that was not there before, and that the journal does not know."""
    known = {str(key[0]) for path in site.rglob("*journal*") for key in read_ours(path).entries}
    changed = [name for name, begin in begins(site).items() if begin not in (before[name], b"past")]
    unknown = [name for name in changed if name.split("/")[1] not in known]
    assert not unknown, f"{unknown[0]} was sent before it was written down"
