"""The campaign: `python -m tests.fuzz --count 12000`, or one case again: `python -m tests.fuzz --replay 123`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.fuzz.harness import Outcome, run_case, table_text
from tests.fuzz.ready import compile_kernels


def main() -> int:
    """Run the campaign or one case; 1 when anything was beyond the allowed outcomes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=12_000, help="cases in all")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for the sites of failures")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="run one case again")
    given = parser.parse_args()
    keep = given.keep.resolve()
    compile_kernels()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # either ends it with what came until then
    outcomes: list[Outcome] = []
    began = time.monotonic()
    try:
        for number in [given.replay] if given.replay is not None else range(given.first, given.first + given.count):
            outcome = run_case(number, keep=keep)
            outcomes.append(outcome)
            if outcome.failed or given.replay is not None:
                last = outcome.detail.strip().splitlines()[-1:] or [""]
                print(f"{number} {outcome.about}: {outcome.word}: {last[0][:200]}", flush=True)
            if given.replay is not None:
                print(outcome.detail)
    except KeyboardInterrupt:
        print("interrupted")
    failed = sum(each.failed for each in outcomes)
    print(table_text(outcomes))
    print(f"\n{len(outcomes):,} cases in {time.monotonic() - began:.0f} s, {failed:,} beyond the allowed outcomes")
    if failed:
        print(f"their sites are in {keep}; run one again with --replay NUMBER")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
