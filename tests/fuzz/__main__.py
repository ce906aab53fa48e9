"""The campaign: `python -m tests.fuzz --count 10000`, or one case again: `python -m tests.fuzz --replay swf:123`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.campaign import Campaign, table_text
from tests.fuzz.harness import run_case
from tests.fuzz.kinds import KINDS
from tests.fuzz.ready import compile_kernels


def main() -> int:
    """Run the campaign or one case; 1 when anything was beyond the allowed outcomes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="cases in all, shared among the kinds")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case of each kind")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="one kind; may be repeated")
    parser.add_argument("--processes", type=int, default=1, help="cases side by side")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for the sites of failures")
    parser.add_argument("--replay", metavar="KIND:NUMBER", help="run one case again, in this process")
    given = parser.parse_args()
    keep = given.keep.resolve()
    compile_kernels()
    if given.replay:
        kind, _, number = given.replay.rpartition(":")
        outcome = run_case(kind, int(number), keep=keep)
        print(f"{given.replay} {outcome.word}\n{outcome.detail}".rstrip())
        return int(outcome.failed)
    kinds = given.kind or list(KINDS)
    share = -(-given.count // len(kinds))
    cases = [(kind, given.seed + k) for kind in kinds for k in range(share)]
    began = time.monotonic()
    campaign = Campaign(keep)
    campaign.run(cases, given.processes)
    failed = sum(each.failed for each in campaign.outcomes.values())
    print(table_text(campaign.outcomes))
    took = f"{len(campaign.outcomes):,} cases in {time.monotonic() - began:.0f} s"
    print(f"\n{took}, {failed:,} beyond the allowed outcomes")
    if failed:
        print(f"their sites are in {keep}; run one again with --replay KIND:NUMBER")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
