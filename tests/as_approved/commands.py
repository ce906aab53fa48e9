"""Small sites and traces, and the commands whose every word is kept as it was approved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

from tests.days import write_small_site
from tests.pages.conftest import RICH_SITE, rich_jobs
from tests.pages.study_pages import made_up_reports

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

Step = str | Callable[[Path], None]
"""The words of a command, or what else is done in a folder."""

DAYS: dict[str, Step] = {
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


def write_trace(folder: Path) -> None:
    """Write a trace of 120 jobs on 32 processors, which at first get more work than they can do."""
    jobs = []
    for k in range(120):
        runtime_s = 30 + k**3 * 53 % (7200 if k % 5 else 600)
        width = 1 + k * 29 % (32 if k % 9 == 0 else 12)
        asked_s = max(60, (runtime_s + (k * 97 % 5000 if k % 3 else 0) - (20 if k % 17 == 0 else 0)) // 60 * 60)
        jobs.append((k * k * 37 % 28_800, runtime_s, width, asked_s, k % 7, k % 5, k % 4))
    lines = ["; MaxProcs: 32", "; UnixStartTime: 1338508800"]
    for number, (submit_s, runtime_s, width, asked_s, user, name, queue) in enumerate(sorted(jobs), start=1):
        more = f"{user} {user % 3} {name} {queue} {1 + number % 2} -1 -1"
        lines.append(f"{number} {submit_s} -1 {runtime_s} {width} -1 -1 {width} {asked_s} -1 1 {more}")
    (folder / "made.swf").write_text("\n".join(lines) + "\n", encoding="utf-8")


ALL_METRICS = "--metrics all -q"
REPLAYS: dict[str, Step] = {
    "rules": "simulate made.swf -p easy,list,strict,greedy,conservative,easy-sjbf,saf-easy-sjbf,laljf-greedy,spf-strict"
    f" -e actual,requested,last2,hierarchy,survival-3,data --out rules {ALL_METRICS}",
    "deadlines": "simulate made.swf -p deadline,deadline-early,conservative --deadlines 40 -e requested,last2"
    f" --correction steps --out deadlines {ALL_METRICS}",
    "orders": "simulate made.swf -p order-af,order-awf,order-bsld+,order-p2sf+,order-p2sf-ratio,order-bsld-ahead"
    f" -e requested,actual*0.5 --round-estimates --correction double --out orders {ALL_METRICS}",
    "offline": "simulate made.swf -p easy -e cvh --offline af,awf,bsld,p2sf --trim steady --out known --json"
    f" {ALL_METRICS}",
    "part": "simulate made.swf -p easy,list --partition 2 --processors 20 --trim last --page part.html",
}
"""Replays of the trace."""


def write_logs(folder: Path) -> None:
    """Write the trace under the names of logs of which figures are published, and jobs for two classes of nodes."""
    write_trace(folder)
    for name in ("CTC-SP2-1996-3.1-cln", "SDSC-BLUE-2000-4.2-cln"):
        copyfile(folder / "made.swf", folder / f"{name}.swf")
    lines = ["job_id,submit_unix,requested_s,units,cores,memory_gb,gpus,runtime_s"]
    for k in range(20):
        lines.append(f"{k},{1_700_000_000 + 60 * k},{900 + k},16,256,64,{16 * (k % 2)},{300 + 10 * k}")
    (folder / "eurora.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_made_up(folder: Path) -> None:
    """Write what studies leave of figures that are made up, as many as real ones have."""
    for name, (study, report) in made_up_reports(folder).items():
        report.write(folder / "made-up" / name, name, study.page(report))


CTC, BLUE = "CTC-SP2-1996-3.1-cln.swf", "SDSC-BLUE-2000-4.2-cln.swf"
STUDIES: dict[str, Step] = {
    "made-up": write_made_up,
    "metrics": f"study metrics {CTC} --steps 3 -q",
    "deadlines": f"study deadlines {BLUE} --seeds 2 --percent 20,60 -q",
    "deadlines-published": f"study deadlines {BLUE} --as-published --seeds 1 --percent 20 -q --out published",
    "predictions": f"study predictions {BLUE} -q",
    "workloads": f"study workloads {CTC} {BLUE} -q",
    "cp-online": f"study cp-online {CTC} -p easy,order-af,saf-list --seeds 2 -q",
    "dispatchers": "study dispatchers eurora.csv -p pcp21,pcp21s,easy,order-stretch -e actual --nodes 8,16 --queues 4"
    " --dispatch-steps 50 --evaluations 2 -q",
    "operation": "study operation --sites sample --no-bounds --only '*/flat/*' --only '*/bands/*/0h/*' -q",
    "ledger": "study fidelity -q",
}
"""Studies of figures that are made up, and of the trace."""


Group = tuple[Callable[[Path], None], dict[str, Step]]
"""What writes the files that commands read, and the commands in turn: what one leaves, others go on from."""

GROUPS: dict[str, Group] = {
    "days": (write_site, DAYS),
    "replays": (write_trace, REPLAYS),
    "studies": (write_logs, STUDIES),
}
