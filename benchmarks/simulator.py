"""How long replays take: EASY and List-REG on KTH-SP2 and on all of Curie, and another simulator on the same jobs.

The jobs of KTH-SP2 also run on nodes that jobs of several sizes share.

    python benchmarks/simulator.py [--data FOLDER] [--peer PYTHON] [--skip-list]

CPU seconds of the replay alone, after one run that loads the compiled code; reading the trace is shown apart.
``--peer`` is a Python that has AccaSim 1.1.3 (`pip install accasim==1.1.3` in an environment of its own): it replays
KTH-SP2 under its EASY in the same run. Without it the recorded CPU times state in.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from days import children_cpu_s, memory_gb

from planner.domain.trace import Machine, Trace
from planner.inputs.traces import read_pool
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.places import TRACE, data_folder

RECORDED_CPU_S = {"published simulator, EASY": 5.2, "published simulator, List-REG": 23.0, "AccaSim 1.1.3, EASY": 52.9}
PEER = """
import collections, collections.abc, sys
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))  # AccaSim 1.1.3 was written for Python 3.9 and older
from accasim.base.simulator_class import Simulator
from accasim.base.scheduler_class import EASYBackfilling
from accasim.base.allocator_class import FirstFit
dispatcher = EASYBackfilling(FirstFit())
simulator = Simulator(sys.argv[1], sys.argv[2], dispatcher, RESULTS_FOLDER_PATH=sys.argv[3])
simulator.start_simulation()
"""
PEER_SYSTEM = '{"groups": {"g0": {"core": 1, "mem": 1000000}}, "resources": {"g0": 100}}'


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--skip-list", action="store_true", help="leave out List-REG on Curie, the longest run")
    options = parser.parse_args()
    data = data_folder(options.data)
    kth, curie = data / "swf" / "KTH-SP2-filtered.swf.gz", data / TRACE

    ours = {}
    trace = read_pool(kth).trace
    replay(trace, policy_named("easy"), trace.runtime_s)
    for policy in ("easy", "list", "conservative"):
        for estimate in ("actual", "requested"):
            ours[policy, estimate] = measure(kth.name, trace, policy, estimate)
    shared = on_shared_nodes(trace)
    for policy in ("easy", "easy-sjbf", "saf-easy", "list"):
        for estimate in ("actual", "requested"):
            measure(f"{kth.name[:15]} on shared nodes", shared, policy, estimate)
    for name, cpu_s in RECORDED_CPU_S.items():
        policy = "list" if "List" in name else "easy"
        print(f"{name:32} {cpu_s:8.1f} s recorded, {cpu_s / ours[policy, 'actual']:8.0f} times ours")
    if options.peer is not None:
        print(f"AccaSim 1.1.3 in this run: {peer_cpu(options.peer, kth)}")

    began = time.process_time()
    trace = read_pool(curie).trace
    print(f"{curie.name}: {len(trace):,} jobs read and cleaned in {time.process_time() - began:.1f} s")
    for policy in ("easy",) if options.skip_list else ("easy", "list"):
        for estimate in ("actual", "requested"):
            measure(curie.name, trace, policy, estimate)
    print(f"largest memory {1024 * memory_gb():.0f} MB")


def on_shared_nodes(pool: Trace) -> Trace:
    """The same jobs on nodes of 4 processors and 8 GB: equal units of up to 4 processors with 0, 1 or 2 GB for each."""
    count = -(-pool.width // 4)
    processors = -(-pool.width // count)
    memory = processors * (np.arange(len(pool)) % 3)
    nodes = int(pool.machine.capacity[0, 0]) // 4
    return replace(
        pool,
        width=count * processors,
        machine=Machine(np.tile(np.array([4, 8]), (nodes, 1))),
        group_count=count,
        group_amount=np.column_stack([processors, memory]),
        unit_ptr=np.concatenate([[0], np.cumsum(count)]),
    )


def measure(name: str, trace, policy: str, estimate: str) -> float:  # type: ignore[no-untyped-def]
    """CPU seconds of one replay."""
    seconds = estimate_named(estimate).make(trace)
    began = time.process_time()
    result = replay(trace, policy_named(policy), seconds)
    cpu_s = time.process_time() - began
    mean_queue = float(result.wait_s.sum()) / float(result.end_s.max() - trace.submit_s[0])
    told = f"{result.round_count:,} rounds, {mean_queue:.1f} waiting"
    print(f"{name:32} {policy:13} {estimate:10} {cpu_s:8.3f} s CPU, {told}")
    return cpu_s


def peer_cpu(python: Path, swf: Path) -> str:
    """What the other simulator says, or why it could not."""
    with tempfile.TemporaryDirectory() as folder:
        plain, system, script = (Path(folder) / name for name in ("jobs.swf", "system.json", "peer.py"))
        plain.write_text(_with_memory(gzip.decompress(swf.read_bytes()).decode()), encoding="utf-8")
        system.write_text(PEER_SYSTEM, encoding="utf-8")
        script.write_text(PEER, encoding="utf-8")
        command = [str(python), str(script), str(plain), str(system), folder]
        before_s = children_cpu_s()
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no answer"])[-1]
    return f"{children_cpu_s() - before_s:.1f} s CPU, reading included"


def _with_memory(text: str) -> str:
    """Every job asks for a little memory: AccaSim divides by what a job asks of each resource."""
    lines = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 18 and not line.startswith(";"):
            fields[6] = fields[9] = "1"
        lines.append(" ".join(fields))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
