"""One day at four prices of electricity: what plans earn, and the power of the last one as a figure.

Run it with `python docs/compare_prices.py [FOLDER]`; editors that know cells run it piece by piece.
"""

# %% What is asked
import sys
from pathlib import Path

import pandas as pd

import planner

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
PRICES = (0.05, 0.15, 0.30, 0.60)

# %% The same day at each price
found = []
for price in PRICES:
    site = planner.load_scenario("sample", {"tariff.eur_per_kwh": price, "rules.defer": "free"})
    day = planner.build_day(site, "2024-06-01")
    planned = planner.plan_day(day, "multisearch", bound_time_s=0)
    assert planner.audit(day.problem, planned.result.plan) == []
    totals = planner.settle(day.problem, planned.result.plan).totals
    found.append({"price": price, "profit": totals.profit_eur, "energy": totals.energy_cost_eur, "pue": totals.pue})

# %% As a table
table = pd.DataFrame(found).set_index("price")
print(table.round(3))

# %% As a figure
planner.power_figure(planner.frames(planned), FOLDER / "power.svg")
print(FOLDER / "power.svg")
