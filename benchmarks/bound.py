"""How near MultiSearch comes to the bound, and what the bound takes. Run: ``python benchmarks/bound.py [PRICES]``.

Days of CEA Curie with rich and thin margins, flat and hourly tariff; the hourly prices are the file PRICES, or
prices/FR.csv.gz in the folder of the traces. Each line: profit, bound, gap, time and rounds of the bound, memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from days import backlog_day, curie_day, french_prices, memory_gb

from planner.accounting.bound import profit_bound
from planner.domain.problem import Problem
from planner.methods import Params
from planner.search.multisearch import multisearch

MARGINS = {
    "rich": ("revenue.eur_per_core_hour=0.02",),
    "thin": ("revenue.eur_per_core_hour=0.003", "rules.defer=free"),
}


def main() -> None:
    """Measure all days in all settings."""
    hourly = french_prices(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    tariffs = {"flat": ("tariff.kind=flat", "tariff.eur_per_kwh=0.15"), "hourly": hourly}
    print(
        f"{'day':<26}{'margin':<8}{'tariff':<8}{'profit':>10}{'bound':>10}{'gap':>9}{'time':>9}{'rounds':>8}{'memory':>10}"
    )
    days: dict[str, Callable[..., Problem]] = {"Curie 2012-08-07": curie_day, "Curie, 14,000 pending": backlog_day}
    for name, build in days.items():
        for margin, income in MARGINS.items():
            for tariff, price in tariffs.items():
                problem = build(more=(*income, *price))
                profit = multisearch(problem, workers=Params().worker_count).ledger.profit_eur
                began = time.perf_counter()
                bound = profit_bound(problem)
                seconds = time.perf_counter() - began
                gap = bound.gap_fraction(profit)
                print(
                    f"{name:<26}{margin:<8}{tariff:<8}{profit:>10.2f}{bound.profit_eur:>10.2f}"
                    f"{'none' if gap is None else f'{100 * gap:.2f} %':>9}{seconds:>7.1f} s{bound.rounds:>8}"
                    f"{memory_gb():>7.2f} GB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
