"""Give the cleaned log of SDSC-SP2 the first jobs that the papers' copy of it has.

The cleaned log in the Parallel Workloads Archive leaves out its first ten jobs, as its header says. The copy that the
authors simulated has them. It is public as what a replay of it left behind: in the authors' repository
`algo74/predictsim` on GitHub, branch `master`, the file
`experiments/data/SDSC-SP2/simulations/res_easy_backfill_scheduler_None_None.swf.gz`. Seven of the ten can be replayed.

    python benchmarks/first_jobs.py SDSC-SP2-1998-4.2-cln.swf.gz res_easy_backfill_scheduler_None_None.swf.gz

writes SDSC-SP2-1998-4.2-first-jobs.swf.gz beside the log. Every job that both have must be the same in both, and all
that are added must come before the log's own: else nothing is written. A replay tells submission, runtime, width,
request and user; a group is that of the user's first job in the log, and what else is not told is unknown.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

SUBMIT, RUN, WIDTH, ASKED_WIDTH, ASKED, STATUS, USER, GROUP = 1, 3, 4, 7, 8, 10, 11, 12
UNKNOWN, DONE = "-1", "1"
ENDING, NEW_ENDING = "-cln.swf.gz", "-first-jobs.swf.gz"

Jobs = dict[int, list[str]]


def read(path: Path) -> tuple[list[str], Jobs]:
    """The lines of the header and the fields of each job by its number."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.strip()]
    jobs = (line.split() for line in lines if not line.startswith(";"))
    return [line for line in lines if line.startswith(";")], {int(fields[0]): fields for fields in jobs}


def told(fields: list[str], *, cut: bool) -> tuple[str, str, str, str, str]:
    """What a replay tells of a job; of a log's, ``cut`` at the time that it asked for, as the replay was fed."""
    run = str(min(int(fields[RUN]), int(fields[ASKED]))) if cut else fields[RUN]
    return fields[SUBMIT], run, fields[WIDTH], fields[ASKED], fields[USER]


def first_jobs(log: Jobs, replayed: Jobs) -> Jobs:
    """The jobs that the replay alone has; SystemExit where the two are not of one log."""
    others = [number for number in replayed if number in log]
    differing = [n for n in others if told(log[n], cut=True) != told(replayed[n], cut=False)]
    if differing or not others:
        sys.exit(f"{len(differing)} of {len(others)} jobs differ, first {differing[:3]}: not a replay of this log")
    found = {number: replayed[number] for number in sorted(replayed) if number not in log}
    begin = min(int(fields[SUBMIT]) for fields in log.values())
    late = [number for number, fields in found.items() if int(fields[SUBMIT]) >= begin]
    if late or not found:
        sys.exit(f"{len(found)} jobs are in the replay alone, {len(late)} of them after the log begins: nothing to add")
    groups: dict[str, str] = {}
    for fields in log.values():
        groups.setdefault(fields[USER], fields[GROUP])
    return {number: _as_logged(fields, groups.get(fields[USER], UNKNOWN)) for number, fields in found.items()}


def _as_logged(fields: list[str], group: str) -> list[str]:
    named = {0: fields[0], ASKED_WIDTH: fields[WIDTH], STATUS: DONE, GROUP: group}
    named |= {place: fields[place] for place in (SUBMIT, RUN, WIDTH, ASKED, USER)}
    return [named.get(place, UNKNOWN) for place in range(len(fields))]


def main() -> None:
    """Write the log with its first jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("replay", type=Path)
    parser.add_argument("--out", type=Path, help="the file to write; else beside the log")
    asked = parser.parse_args()
    header, log = read(asked.log)
    _, replayed = read(asked.replay)
    more = first_jobs(log, replayed)
    out = asked.out or asked.log.with_name(asked.log.name.removesuffix(ENDING) + NEW_ENDING)
    with gzip.open(out, "wt", encoding="utf-8") as file:
        file.writelines([*header, *(" ".join(fields) + "\n" for fields in [*more.values(), *log.values()])])
    print(f"{len(replayed) - len(more)} jobs are the same in both; {len(more)} first jobs are added: {out}")


if __name__ == "__main__":
    main()
