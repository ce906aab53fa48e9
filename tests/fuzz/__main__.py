"""The campaign: `python -m tests.fuzz --count 12000`, or one case again: `python -m tests.fuzz --replay 123`.

Outcomes are kept in a file, and a campaign that was stopped goes on from there; cases that failed are run again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tests.fuzz.construct import about_of
from tests.fuzz.harness import Outcome, run_case, table_text
from tests.fuzz.ready import load_all


def main() -> int:
    """Run the campaign or one case; 1 when anything was beyond the allowed outcomes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=12_000, help="cases in all")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder of outcomes and failed sites")
    parser.add_argument("--fresh", action="store_true", help="run all, whatever outcomes are kept")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="run one case again")
    given = parser.parse_args()
    keep = given.keep.resolve()
    load_all()
    if given.replay is not None:
        outcome = run_case(given.replay, keep=keep)
        print(f"{outcome.about}: {outcome.word}, {outcome.cpu_s:.2f} s of CPU\n{outcome.detail}")
        return int(outcome.failed)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # either ends it with what came until then
    began = time.process_time()
    numbers = range(given.first, given.first + given.count)
    keep.mkdir(parents=True, exist_ok=True)
    outcomes = {} if given.fresh else _kept(keep / "outcomes.jsonl", numbers)
    with (
        (keep / "outcomes.jsonl").open("w" if given.fresh else "a", encoding="utf-8") as file,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for number in numbers:
            if number in outcomes and not outcomes[number].failed:
                continue
            outcome = outcomes[number] = run_case(number, keep=keep)
            print(json.dumps({"number": number, **asdict(outcome)}), file=file, flush=True)
            if outcome.failed:
                print(f"{number} {outcome.about}: {outcome.word}: {_last_line(outcome.detail)}", flush=True)
    print(_summary(list(outcomes.values()), time.process_time() - began))
    failed = any(each.failed for each in outcomes.values())
    if failed:
        print(f"their sites are in {keep}; run one again with --replay NUMBER")
    return int(failed)


def _kept(path: Path, numbers: range) -> dict[int, Outcome]:
    """The last outcome of each case, if the case is still about the same."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        told = json.loads(line)
        number = told.pop("number")
        if number in numbers and about_of(number) == told["about"]:
            found[number] = Outcome(**told)
    return found


def _last_line(text: str) -> str:
    return (text.strip().splitlines()[-1:] or [""])[0][:200]


def _summary(outcomes: list[Outcome], harness_s: float) -> str:
    cpu_s = sorted(each.cpu_s for each in outcomes) or [0.0]
    return (
        f"{table_text(outcomes)}\n\n{len(outcomes):,} cases, {sum(each.failed for each in outcomes):,} beyond the "
        f"allowed outcomes; CPU a case: {sum(cpu_s) / len(cpu_s):.2f} s on average, {cpu_s[-1]:.1f} s at most; "
        f"{harness_s:.0f} s to make the cases of this run"
    )


if __name__ == "__main__":
    sys.exit(main())
