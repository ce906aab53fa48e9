"""A small site with all that a site can have, and the commands whose every word is kept as it was approved."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.days import write_small_site
from tests.pages.conftest import RICH_SITE, rich_jobs

NIGHT = """\
description: The same site with dearer evenings, demand charge and no sun
base: site
tariff:
  kind: bands
  bands:
    - {from: "00:00", to: "17:00", eur_per_kwh: 0.1}
    - {from: "17:00", to: "22:00", eur_per_kwh: 0.4}
    - {from: "22:00", to: "24:00", eur_per_kwh: 0.1}
demand: {eur_per_kw: 10, period: month}
budgets: {period: month, accounts: {a: 20, b: 500, c: 40}}
solar: null
feed_in: null
"""

SACCT = """\
JobID|User|Account|JobName|State|Submit|Start|End|Timelimit|AllocTRES|ConsumedEnergyRaw|NodeList
1|ann|a|relax|COMPLETED|2024-06-01T00:10:00|2024-06-01T00:20:00|2024-06-01T06:20:00|08:00:00|cpu=8,node=1|5400000|cpu1
2|bob|b|md|TIMEOUT|2024-06-01T01:00:00|2024-06-01T07:00:00|2024-06-01T09:00:00|02:00:00|cpu=16,node=2|4300000|cpu[2-3]
3|ann|a|relax|CANCELLED|2024-06-01T02:00:00|2024-06-01T02:00:00|2024-06-01T02:30:00|04:00:00|cpu=4,node=1||cpu4
4|cy|c|late|COMPLETED|2024-06-01T18:00:00|2024-06-01T18:00:00|2024-06-01T23:30:00|06:00:00|cpu=8,node=1|6600000|cpu1
"""

PRICES = "time,price\n" + "".join(
    f"2024-0{5 + (k >= 24)}-{31 if k < 24 else k // 24:02} {k % 24:02}:00,{0.1 + 0.02 * (k % 24 > 16)}\n"
    for k in range(96)
)

DAY, NEXT, MOMENT = "2024-06-01", "2024-06-02", "2024-06-02T09:30+02:00"
SHORT = "-m est --bound-time 0 --iterations 200 --time-limit 10m"
REPLAYED = f"--scenario site --from 2024-05-31 --to {DAY}"

COMMANDS = {
    "day": f"--day {DAY} {SHORT}",
    "next-day": f"--day {NEXT} {SHORT}",
    "now": f"now --at {MOMENT} {SHORT}",
    "search": f"--day {DAY} --scenario night {SHORT} -m multisearch",
    "hold": f"--day {DAY} --scenario night {SHORT} -m hold --set rules.max_delay=6h --out held",
    "run": f"run --from {DAY} --to 2024-06-03 --until-empty --scenario night {SHORT} --run-bound-time 0",
    "compare": f"compare site night -p easy -p hold --from {DAY} --to {NEXT} {SHORT} --processes 1",
    "compare-weights": f"compare night --carbon-weights 0,50 --day {DAY} {SHORT} --processes 1",
    "simulate": f"simulate {REPLAYED} -p easy -p saf-list -p conservative --page replay.html --out replay",
    "simulate-json": f"simulate {REPLAYED} -p list -e actual -e requested --metrics all --json",
    "savings": "savings --sacct sacct.txt --prices prices.csv --unit EUR/kWh --zone Europe/Paris --hours 6 --carbon 9",
    "report": "report --month 2024-06 --scenario night --by account --statements",
    "report-day": f"report --day {DAY} --scenario site --by job",
    "check": f"check --fresh --day {DAY}",
    "table": "table build --out tables/made.csv --plant hybrid --max-power-kw 10 --power-step-w 1000",
    "show-scenarios": "show scenarios",
    "show-policies": "show policies",
    "show-metrics": "show metrics",
    "show-methods": "show methods",
    "unknown-method": f"--day {DAY} -m nonsense",
    "unknown-scenario": "check nonsense",
    "wrong-setting": f"--day {DAY} --set tariff.kind=cheap",
    "two-kinds": f"--day {DAY} --set feed_in.factor=0.5",
}
"""By name, in turn: what one leaves, others go on from. No bound and no engine, whose answers depend on the machine."""


def write_site(folder: Path) -> None:
    """Write the site and what commands read beside it."""
    write_small_site(folder, RICH_SITE, rich_jobs())
    (folder / "scenarios" / "night.yaml").write_text(NIGHT, encoding="utf-8")
    (folder / "sacct.txt").write_text(SACCT, encoding="utf-8")
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")


def words_of(name: str) -> list[str]:
    """The words of a command."""
    return shlex.split(COMMANDS[name])
