"""Small sites and traces, and the commands whose every word is kept as it was approved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any
from unittest.mock import Mock

import numpy as np

import planner
from planner import defaults, limits
from planner.cooling.picture import _draw_curves, _draw_map
from planner.cooling.plant import AIR, build_table
from planner.studies.study import options_of
from tests.days import JOBS, write_small_site
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

PLANT = """\
base: hybrid
design_power_w: 8e3
water_share: 0.7
air: {chiller_cop: 3.4, free_cooling_limit_c: 12}
"""

WRONG_PLANT = """\
base: air
nam: plant
water_share: many
name: [1]
air: {chiller_cpo: 3, chiller_cop: high}
water: {chiller_cop: 3}
"""

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
    "compare-waiting": f"compare night --waiting 0,0.02 --day {DAY} {SHORT} -m harvest --processes 1 --out waiting",
    "compare-invest": f"compare night site --baseline night:est --invest 999 --day {DAY} {SHORT} --processes 1"
    " --out years",
    "simulate": f"simulate {REPLAYED} -p easy -p saf-list -p conservative --page replay.html --out replay",
    "simulate-json": f"simulate {REPLAYED} -p list -e actual -e requested --metrics all --json",
    "savings": "savings --sacct sacct.txt --prices prices.csv --unit EUR/kWh --zone Europe/Paris --hours 6 --carbon 9",
    "report": "report --month 2024-06 --scenario night --by account --statements",
    "report-day": f"report --day {DAY} --scenario site --by job",
    "check": f"check --fresh --day {DAY}",
    "table": "table build --out tables/made.csv --plant hybrid --max-power-kw 10 --power-step-w 1000",
    "plant": "table build --plant plant.yaml --max-power-kw 7 --first-c -5 --out tables/own.csv",
    "no-plant": "table build --plant wrong.yaml --out tables/wrong.csv",
    "show-scenarios": "show scenarios",
    "show-policies": "show policies",
    "show-metrics": "show metrics",
    "show-methods": "show methods",
    "show-orderings": "show orderings",
    "show-params": "show params",
    "show-predictors": "show predictors",
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
    tables = {"sacct.txt": SACCT, "prices.csv": PRICES, "plant.yaml": PLANT, "wrong.yaml": WRONG_PLANT}
    for name, text in tables.items():
        (folder / name).write_text(text, encoding="utf-8")


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
    """Write what studies leave of made-up figures, as many as real ones have, and say what options they take."""
    for name, (study, report) in made_up_reports(folder).items():
        for each in options_of(type(study)):
            print(name, *each.flags, each.kind, each.bounds, each.default)
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


RULED_SITE = """\
description: Six nodes that sleep, below a limit of power, for jobs with all that can be asked for
zone: Europe/Paris
jobs: {source: ../jobs/queue.csv, visibility: day}
cluster:
  classes:
    cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}, idle_w: 20, sleep_w: 5}
    gpu: {count: 2, capacity: {cores: 8, memory_gb: 64, gpus: 4}, idle_w: 30}
  power_limit_kw: 0.9
weather: {source: sample}
tariff:
  kind: bands
  eur_per_kwh: 0.2
  bands:
    - {from: "00:00", to: "08:00", eur_per_kwh: 0.1}
    - {from: "08:00", to: "20:00", eur_per_kwh: 0.5}
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.01}
rules: {execute: actual}
search: {lookahead_days: 2}
"""


def ruled_jobs() -> str:
    """Jobs with deadlines, dependencies, begin times, priorities, weights, runtimes, and whole nodes."""
    rows = [
        "job_id,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit,gpus_per_unit,power_w,account,user,name"
        ",runtime_s,deadline,revenue_weight,exclusive,priority,begin_time,dependency"
    ]
    for k in range(60):
        submitted = f"2024-0{5 + (k > 25)}-{31 if k <= 25 else 1 + (k - 26) // 24:02}T{k * 5 % 24:02}:00:00+02:00"
        hours, units, on_gpus = 1 + k * 11 % 7, 1 + (k % 7 == 3) + (k % 11 == 5), k % 6 == 1
        deadline = "2024-06-02T12:00:00+02:00" if k % 13 == 4 else ""
        begin = "2024-06-01T15:00:00+02:00" if k % 17 == 6 else ""
        first = f"{('afterok', 'afterany', 'after')[k % 3]}:q{k - 9:02}" if k % 10 == 9 else ""
        rows.append(
            f"q{k:02},{submitted},{hours},{units},{1 + k * 7 % 8},{1 + k % 9},{1 + k % 2 if on_gpus else 0},{40 + k}"
            f",{'abc'[k % 3]},{'uvwx'[k % 4]},n{k % 5},{hours * 3600 * (3 + k % 5) // 8},{deadline}"
            f",{0.5 + k % 4},{'true' if k % 8 == 2 else ''},{1 + k % 3},{begin},{first}"
        )
    return "\n".join(rows) + "\n"


FINISHED = """\
job_id,submit_time,end_time,requested_h,units,cores_per_unit,user,name,exclusive,power_w
a,2024-05-26T08:00:00+02:00,2024-05-26T10:00:00+02:00,2,1,8,u,n1,,160
b,2024-05-28T08:00:00+02:00,2024-05-28T10:00:00+02:00,2,1,8,u,n1,,80
c,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,2,1,2,v,,true,50
d,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,2,1,2,v,,,999
e,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,2,1,8,v,n2,,
f,2024-05-29T09:00:00+02:00,2024-05-30T11:00:00+02:00,9,3,8,u,n1,,300
g,2024-05-30T08:00:00+02:00,2024-05-31T09:00:00+02:00,2,2,8,w,n3,,40
"""

NOW_TABLE = """\
job_id,submit_time,requested_h,units,cores_per_unit,state,start_time,end_time,nodes
r1,2024-06-02T05:00:00+02:00,6,2,8,RUNNING,2024-06-02T06:00:00+02:00,,"cpu1,cpu2"
r2,2024-06-02T05:00:00+02:00,3,1,4,RUNNING,2024-06-02T08:30:00+02:00,,cpu3
e1,2024-06-02T05:00:00+02:00,2,1,8,DONE,2024-06-02T05:00:00+02:00,2024-06-02T06:00:00+02:00,cpu1
p1,2024-06-02T07:00:00+02:00,5,1,8,PENDING,,,
p2,2024-06-02T08:00:00+02:00,9,3,6,PENDING,,,
p3,2024-06-02T08:00:00+02:00,1,1,2,PENDING,,,
"""

NODES_TABLE = """\
node,state,from,to
cpu4,down,2024-06-02T04:00:00+02:00,2024-06-02T12:00:00+02:00
gpu1,drain,2024-06-02T11:00:00+02:00,
"""


def write_ruled(folder: Path) -> None:
    """Write the site with rules, the ten jobs of another site, and tables of what has run."""
    write_small_site(folder, RULED_SITE, ruled_jobs())
    (folder / "jobs" / "ten.csv").write_text(JOBS, encoding="utf-8")
    (folder / "groups.csv").write_text(grouped_jobs(), encoding="utf-8")
    tables = {"finished.csv": FINISHED, "now.csv": NOW_TABLE, "nodes.csv": NODES_TABLE, "sacct.txt": SACCT}
    for name, text in tables.items():
        (folder / name).write_text(text, encoding="utf-8")


def grouped_jobs() -> str:
    """Jobs of two sizes of units, more than the nodes can hold at once."""
    rows = ["job_id,submit_unix,requested_s,runtime_s,unit_groups"]
    for k in range(40):
        more = f"; {1 + k % 2}x cores={1 + k % 4} memory_gb=8 gpus={k % 3}" if k % 3 else ""
        asked_s = 600 + k * 977 % 9000
        rows.append(
            f"g{k},{1_717_200_000 + k * 301 % 4000},{asked_s},{asked_s * (2 + k % 3) // 4},"
            f"{1 + k % 4}x cores={2 + k * 5 % 7} memory_gb={1 + k % 5}{more}"
        )
    return "\n".join(rows) + "\n"


LONGER = "--bound-time 0 --iterations 1500 --time-limit 10m"
SEARCHES: dict[str, Step] = {
    "harvest": f"--day {DAY} {LONGER} --also swf",
    "audit": f"audit reports/site/{DAY}",
    "why": f"why q44 reports/site/{DAY}",
    "published": f"--day {DAY} {LONGER} --set goal.kind=published --set rules.defer=free --out published",
    "carbon": f"--day {DAY} {LONGER} --set goal.carbon_limit_kg=4 --set carbon.g_per_kwh=400 --out carbon",
    "full": f"--day {DAY} {LONGER} --set cluster.classes.cpu.count=2 --set rules.execute=requested --out full",
    "promised": f"--day {DAY} {SHORT} -m hold --set rules.max_delay=6h --set rules.estimate=last2 --out promised",
    "delay": f"--day {DAY} {SHORT} -m delay --jobs jobs/ten.csv --set search.delay.step=3h --out delay",
    "held": f"simulate {REPLAYED} -p hold,hold:conservative,hold:strict,order-profit,pcp21"
    " -e requested,last2 --set rules.max_delay=6h --metrics all -q --out held",
    "groups": "simulate groups.csv --scenario site -p easy,list,order-af,conservative,saf-strict -q --out groups"
    " --metrics all",
    "now": f"now --at {MOMENT} --snapshot now.csv --nodes nodes.csv {LONGER} --out now",
    "book": f"book --day {DAY} --sacct sacct.txt",
    "report": f"report --day {DAY} --scenario site --by user",
    "learn": "power learn --from finished.csv --out scenarios/power.json",
    "errors": "power errors --from finished.csv --w-per-core 9.5",
    "learned": f"check --day {DAY} --set power.learned=scenarios/power.json --fresh",
}
"""Searches at a site with rules, replays that hold jobs, and a day as it happened."""


QUICK = {"method": "est", "iterations": 200, "time_limit_s": 600.0, "bound_time_s": 0.0}


def _shown(result: Any) -> None:
    """Print what a result says of itself: a line, the table in notebooks, and its frame if it has one."""
    print(repr(result))
    print(result._repr_html_())
    if hasattr(result, "frame"):
        print(result.frame().to_csv())


def show_days(folder: Path) -> None:
    """Plan, go on, run, book and report."""
    told: list[str] = []
    more = {"on_progress": told.append}
    planned = planner.plan(DAY, **QUICK, **more)
    _shown(planned)
    (folder / "power.html").write_text(planner.power_figure(planned.frames()), encoding="utf-8")
    _shown(planner.now(at=MOMENT, snapshot="now.csv", nodes="nodes.csv", out="now", **QUICK, **more))
    _shown(planner.run(DAY, NEXT, until_empty=True, out="run", **QUICK, **more))
    _shown(planner.book(DAY, sacct="sacct.txt", **more))
    _shown(planner.report(month="2024-06", by="user", statements=True, **more))
    print("\n".join(told))


def show_replays(folder: Path) -> None:
    """Compare and replay."""
    told: list[str] = []
    how = {"iterations": 200, "time_limit_s": 600.0, "on_progress": told.append}
    _shown(planner.compare(["site"], DAY, NEXT, methods=["est", "multisearch"], policies=["hold"], processes=1, **how))
    replayed = planner.simulate(None, ["easy", "list"], ["requested", "last2"], scenario="site", first=DAY, last=NEXT,
        metrics=["bsld", "wait"], out="replayed", page="replayed.html", on_progress=told.append)  # fmt: skip
    print(repr(replayed))
    print(replayed.frame().to_csv())
    print("\n".join(told))


def show_limits(folder: Path) -> None:
    """Print what numbers are taken where users give some, and what holds where they give none."""
    for place in (limits, defaults):
        for name, value in vars(place).items():
            if name.isupper() and name != "ITERATIONS":  # tests search for less long
                print(name, value)


def show_picture(folder: Path) -> None:
    """Print what is drawn of a cooling table, call by call."""
    table = build_table(AIR, name="air", max_power_w=5000, power_step_w=500)
    figure, axes = Mock(), Mock()
    _draw_curves(axes, table)
    _draw_map(figure, axes, table)
    for name, given, named in (*axes.mock_calls, *figure.mock_calls):
        print(name, *map(_plain, given), *(f"{key}={_plain(value)}" for key, value in named.items()))


def _plain(value: Any) -> Any:
    """A drawn value as plain numbers; what was drawn before is only named."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.round(value, 4).tolist()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return "drawn before" if isinstance(value, Mock) else value


PYTHON: dict[str, Step] = {
    "days": show_days,
    "replays": show_replays,
    "picture": show_picture,
    "limits": show_limits,
    "init": "init new",
    "init-as-it-ran": "init own --from-sacct sacct.txt --zone Europe/Paris",
}
"""What functions give that scripts call, and the picture of a table."""


Group = tuple[Callable[[Path], None], dict[str, Step]]
"""What writes the files that commands read, and the commands in turn: what one leaves, others go on from."""

GROUPS: dict[str, Group] = {
    "days": (write_site, DAYS),
    "replays": (write_trace, REPLAYS),
    "studies": (write_logs, STUDIES),
    "searches": (write_ruled, SEARCHES),
    "python": (write_ruled, PYTHON),
}
