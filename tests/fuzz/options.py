"""Values of every option and argument: valid ones, many of them extreme. A new option needs a line here."""

from __future__ import annotations

from tests.days import DAY

NEXT = "2024-06-02"
LARGE = ("1", "2147483647")
LISTS = ("", ",")

QUICK = ("-m", "multisearch", "--iterations", "20", "--workers", "1", "--time-limit", "1s", "--bound-time", "0")
TRACE = ("jobs/trace.swf", "--processors", "32", "--jobs", "6")
BASES: dict[str, tuple[str, ...]] = {
    "": ("--day", DAY, *QUICK),
    "run": ("--from", DAY, "--to", DAY, *QUICK),
    "now": ("--at", f"{DAY}T08:00:00Z", "--snapshot", "now.csv", *QUICK),
    "book": ("--day", DAY, "--sacct", "sacct.txt"),
    "compare": (
        "site",
        "other",
        "--day",
        DAY,
        "-m",
        "est",
        "--processes",
        "1",
        "--iterations",
        "20",
        "--time-limit",
        "1s",
    ),
    "savings": ("--sacct", "sacct.txt", "--prices", "prices.csv", "--zone", "Europe/Paris", "--hours", "2"),
    "report": ("--out", "planned"),
    "check": ("--day", DAY),
    "audit": (f"planned/site/{DAY}",),
    "why": ("wide", "planned/site"),
    "init": ("new",),
    "compile": ("--quiet",),
    "show": ("methods",),
    "simulate": ("jobs/trace.swf", "--processors", "32"),
    "table build": ("--out", "t.csv", "--plant", "air", "--max-power-kw", "3"),
    "power learn": ("--from", "finished.csv", "--out", "power.json"),
    "power errors": ("--from", "finished.csv", "--skip-days", "0"),
    "study curie23": ("--days", "1", "--scenarios", "air-summer", "--methods", "est", "--run-bound-time", "0"),
    "study cp-online": (*TRACE, "--policies", "easy"),
    "study dispatchers": ("jobs/units.csv", "--scenario", "site", "--policies", "easy", "--part", "replays"),
    "study metrics": (*TRACE, "--part", "policies"),
    "study deadlines": (*TRACE, "--seeds", "1", "--percent", "20"),
    "study predictions": TRACE,
    "study operation": ("--quick", "--only", "none-of-them"),
    "study workloads": TRACE,
    "study fidelity": (),
    "study all": ("--quick", "--data", "jobs"),
    "slurm snapshot": ("--out", "saved"),
    "slurm apply": ("PLANNED",),
    "slurm undo": ("PLANNED",),
    "slurm verify": ("PLANNED",),
}
"""The words with which each command does something small; every command of the program is here."""

METHODS = ("multisearch", "est", "profit-strict", "harvest", "delay", "easy", "hold", "cp", "relaxation")
DAYS = (DAY, "today", "tomorrow", "yesterday", "1970-01-01", "2199-12-31", "2024-03-31", "2024-10-27")
RANGE = {
    "--from": (DAY, "2024-05-31", "today", "tomorrow", "yesterday", "2199-12-31"),
    "--to": (DAY, NEXT, "2024-03-31", "1970-01-01", "2199-12-31"),
}
"""Days of a run: a few, none, or more than a run may have."""
TIMES = ("1s", "0.001s", "2", "1e-9", "0.5m")
OUTS = ("reports", "a b/é/\u202e", "deep/" * 20, ".", "./..//site", "link", "x" * 200)
NAMES = ("site", "other", "scenarios/site.yaml", "./scenarios/other.yaml", "sample")
JOBS = ("jobs/units.csv", "jobs/trace.swf", "jobs/queue.csv", "link.csv", "jobs/queue.csv.gz")
ESTIMATES = ("actual", "requested", "actual*0.5", "last2", "tsafrir", "actual*1e-9", "actual*1000")
POLICIES = ("easy", "list", "conservative", "easy-sjbf", "saf-list", "order-af", "deadline")

VALUES: dict[str, tuple[str, ...]] = {
    "--day": DAYS,
    "--from": DAYS,
    "--to": DAYS,
    "--at": (f"{DAY}T08:00:00Z", f"{DAY}T08:00:00.5+14:00", "2024-06-01T22:00:00Z", "1970-01-02T00:00Z"),
    "--month": ("2024-06", "1970-01", "2199-12"),
    "--until": (DAY, "2024-05-30", "2199-12-31"),
    "--scenario": NAMES,
    "scenarios": NAMES,
    "--method": METHODS,
    "--policy": POLICIES,
    "--policies": POLICIES,
    "--methods": ("est", "multisearch"),
    "--time-limit": TIMES,
    "--bound-time": ("0", *TIMES),
    "--run-bound-time": ("0", *TIMES),
    "--cell-time": ("1s", "1000h"),
    "--seed": ("0", "1", "2147483647"),
    "--jobs": JOBS,
    "jobs": (*JOBS, "/dev/null"),
    "files": JOBS,
    "traces": ("jobs/trace.swf", "jobs/trace.swf.xz"),
    "--out": OUTS,
    "--also": ("parquet", "swf"),
    "--workers": ("0", "1", "2", "1024"),
    "--processes": ("0", "1", "2", "1024"),
    "--engine": ("cpsat", "cpo", "none"),
    "--iterations": ("1", "20"),
    "--snapshot": ("now.csv", "jobs/queue.csv"),
    "--nodes": ("nodes.csv",),
    "--hours": ("0.001", "1", "48", "336"),
    "--sacct": ("sacct.txt", "link.txt"),
    "--table": ("now.csv",),
    "--baseline": ("site", "site:est", "other"),
    "--carbon-weights": ("0", "0,1e6", "0,50,200"),
    "--waiting": ("0", "0,1e6", "0,0.003,0.01"),
    "--repeats": ("1", "5"),
    "--backend": ("processes",),
    "--address": ("127.0.0.1:1",),
    "--by": ("account", "user", "job", "account-user", "class", "partition", "qos"),
    "folder": (f"planned/site/{DAY}", f"planned/site/{NEXT}", "planned"),
    "topic": ("methods", "orderings", "policies", "metrics", "scenarios", "engines", "versions", "docs", "schema"),
    "--processors": ("1", "32", "1000000000"),
    "--estimate": ESTIMATES,
    "--estimates": ESTIMATES,
    "--metrics": ("all", "bsld", "bsld,wait"),
    "--trim": ("none", "steady", "last"),
    "--correction": ("request", "steps", "double"),
    "--partition": ("1", "1,2", "999"),
    "--queue": ("1", "0,1"),
    "--deadlines": ("0", "1e-9", "50", "100"),
    "--offline": ("af", "awf,bsld"),
    "--page": ("page.html", "p/q.html"),
    "--plant": ("air", "hybrid", "plant.yaml"),
    "--max-power-kw": ("0.001", "3", "1000"),
    "--power-step-w": ("1", "500", "100000"),
    "--first-c": ("-40", "0", "19.5"),
    "--last-c": ("20", "60", "45.25"),
    "--step-c": ("0.5", "5", "60"),
    "--picture": ("t.png", "t.svg", "t.pdf"),
    "--days": ("1", "30"),
    "--w-per-core": ("0", "9", "1000000"),
    "--skip-days": ("0", "1", "3660"),
    "--part": ("policies", "predictors", "distortion", "replays"),
    "--unrequested": ("drop", "keep"),
    "--steps": ("1", "5"),
    "--percent": ("20", "0,100"),
    "--seeds": ("1", "2"),
    "--evaluations": ("0", "1", "10"),
    "--dispatch-steps": ("1", "200"),
    "--queues": ("1", "5,2"),
    "--calibrations": ("ours", "fitted"),
    "--scenarios": ("air-summer", "hybrid-winter"),
    "--only": ("none-of-them", "sample/*/*/nothing"),
    "--sites": ("sample", "curie", "curie,sample"),
    "--data": (".", "jobs", "nowhere"),
    "--trace": ("jobs/trace.swf",),
    "--trace-cores": ("1", "93312"),
    "--prices": ("prices.csv",),
    "--weather": ("weather.csv", "weather.epw", "forecast.csv"),
    "--unit": ("EUR/MWh", "EUR/kWh", "ct/kWh"),
    "--zone": ("UTC", "Asia/Kathmandu", "America/St_Johns", "Etc/GMT+12"),
    "--pue": ("1", "1.4", "10", "tables/small.csv"),
    "--carbon": ("0", "500", "carbon.csv"),
    "--cores": ("1", "200", "1000000"),
    "--from-sacct": ("sacct.txt", "link.txt", "finished.csv"),
    "--invest": ("0", "1e6", "1000"),
    "--metrics-file": ("metrics.prom", "a/b/metrics.prom"),
    "job": ("wide", "giant", "42_7", "42", "nobody"),
}
"""By the name of an option or argument, whatever command it is of."""

OF_COMMAND: dict[str, dict[str, tuple[str, ...]]] = {
    "power learn": {"--from": ("finished.csv", "sacct.txt", "link.txt"), "--out": ("power.json", "a/b/power.json")},
    "power errors": {"--from": ("finished.csv", "sacct.txt")},
    "table build": {"--out": ("t.csv", "a/b/t.csv")},
    "run": RANGE,
    "compare": {**RANGE, "--method": (*METHODS, "est,profit-strict", "easy,est,easy", ",est,")},
    "study all": {"--only": ("logs", "deadlines-published,logs", "nonsense", "")},
    "report": {"--also": ("parquet",), "--out": ("planned", "reports")},
    "why": {"folder": ("planned/site", f"planned/site/{DAY}", "planned")},
    "savings": {"--sacct": ("sacct.txt", "link.txt", "finished.csv"), "--hours": ("1", "2,6", "168")},
    "init": {"folder": ("new", "a/b/new", "é", "link")},
    "slurm apply": {"folder": ("PLANNED",)},
    "slurm undo": {"folder": ("PLANNED",)},
    "slurm verify": {"folder": ("PLANNED",)},
    "study operation": {"--nodes": ("1", "300", "100000")},
    "study dispatchers": {"--nodes": ("2", "64,3"), "--scenario": ("site",), "--jobs": ("1", "3")},
    **{
        f"study {name}": {"--jobs": ("1", "3", "1000000")}
        for name in ("cp-online", "metrics", "deadlines", "predictions", "workloads")
    },
}
"""Where one of the same name means something else."""

GIVEN_ELSEWHERE = {"--set", "--help", "--version", "--install-completion", "--show-completion"}
"""Settings are those of the scenario's keys; the others are not for a case of their own."""


def values_of(command: str, name: str) -> tuple[str, ...] | None:
    """Values of an option or argument; None where nobody has thought of any."""
    return OF_COMMAND.get(command, {}).get(name) or VALUES.get(name)
