"""Every command and its function: the same files byte for byte, the same defaults, told on the way, shown in a line."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cli import book, compare, main, now, report, run_days, simulate
from planner.cli.main import run as command_line
from planner.units import parse_duration
from tests.days import BRIEF, DAY, tree, write_small_site

NEXT = "2024-06-02"
QUICK = {"iterations": 1000, "time_limit_s": 600.0, "bound_time_s": 0.0}
WORDS = ("-q", "--bound-time", "0", *BRIEF)
SACCT = """\
JobID|User|Account|State|Submit|Start|End|NodeList|AllocCPUS
1|ann|physics|COMPLETED|2024-05-31T08:00:00|2024-06-01T01:00:00|2024-06-01T05:00:00|cpu[1-2]|16
"""
SNAPSHOT = """\
job_id,state,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit,power_w,account,start_time,nodes
a,pending,2024-05-31T08:00:00+02:00,3,2,8,8,200,physics,,
b,running,2024-05-31T08:00:00+02:00,9,1,8,8,90,chem,2024-05-31T23:00:00+02:00,cpu1
"""
TRACE = "job_id,submit_unix,requested_s,runtime_s,cores\na,0,3600,1800,2\nb,10,3600,3600,2\nc,20,600,300,1\n"
MOMENT = "2024-06-01T10:00+02:00"

VARIES = {"began", "solve_s", "found_s", "seal", "command", "report.html", "summary.json"}
"""Keys of JSON that no two runs share: times, the words of the command, and digests of files that have them."""
CLOCK = re.compile(
    rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00(?=<)|20\d{6}T\d{6}Z"
    rb"|, [\d.]+ s, status|<code>plan [^<]*</code>|a script(?=<)"
)
"""The same on pages."""


def _steady(name: str, content: bytes) -> bytes:
    """A file without what no two runs share."""
    if name.endswith(".json"):
        content = json.dumps(_without(json.loads(content)), sort_keys=True).encode()
    return CLOCK.sub(b"", content) if name.endswith((".json", ".html")) else content


def _without(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without(value) for key, value in content.items() if key not in VARIES}
    return [_without(each) for each in content] if isinstance(content, list) else content


Both = tuple[tuple[str, ...], Callable[[], Any]]

COMMANDS: dict[str, list[Both]] = {
    "plan": [
        (("--day", DAY, *WORDS), lambda: planner.plan(DAY, **QUICK)),
        (("--day", NEXT, "-m", "est", *WORDS), lambda: planner.plan(NEXT, method="est", **QUICK)),
    ],
    "promise": [
        (
            ("--day", DAY, "--set", "rules.max_delay=6h", "--also", "swf", *WORDS),
            lambda: planner.plan(DAY, settings={"rules.max_delay": "6h"}, also=["swf"], **QUICK),
        )
    ],
    "snapshot": [
        (("--day", DAY, "--snapshot", "queue.csv", *WORDS), lambda: planner.plan(DAY, snapshot="queue.csv", **QUICK))
    ],
    "now": [
        (
            ("now", "--at", MOMENT, "--snapshot", "queue.csv", *WORDS),
            lambda: planner.now(at=MOMENT, snapshot="queue.csv", **QUICK),
        )
    ],
    "run": [
        (
            ("run", "--from", DAY, "--to", NEXT, "--until-empty", "-m", "multisearch", *WORDS),
            lambda: planner.run(DAY, NEXT, until_empty=True, method="multisearch", **QUICK),
        )
    ],
    "book": [
        (("--day", DAY, "-m", "est", *WORDS), lambda: planner.plan(DAY, method="est", **QUICK)),
        (("book", "--day", DAY, "--sacct", "sacct.txt", "-q"), lambda: planner.book(DAY, sacct="sacct.txt")),
        (("report", "--month", "2024-06", "-q"), lambda: planner.report(month="2024-06")),
        (
            ("report", "--from", DAY, "--to", NEXT, "--by", "job", "--also", "xlsx", "--statements", "-q"),
            lambda: planner.report(DAY, NEXT, by="job", also=["xlsx"], statements=True),
        ),
        (("report", "-q"), planner.report),
    ],
    "compare": [
        (
            ("compare", "site", "scenarios/dear.yaml", "--day", DAY, "-m", "est", "-p", "list", "-q"),
            lambda: planner.compare(["site", "scenarios/dear.yaml"], DAY, methods=["est"], policies=["list"]),
        )
    ],
    "simulate": [
        (
            (
                "simulate",
                "trace.csv",
                "-p",
                "easy,list",
                "--processors",
                "3",
                "--out",
                "replays",
                "--page",
                "p.html",
                "-q",
            ),
            lambda: planner.simulate("trace.csv", ["easy", "list"], processors=3, out="replays", page="p.html"),
        ),
        (
            ("simulate", "trace.csv", "--scenario", "site", "--metrics", "all", "--out", "days", "-q"),
            lambda: planner.simulate("trace.csv", scenario="site", metrics=["all"], out="days"),
        ),
    ],
}


def _site(folder: Path) -> Path:
    write_small_site(folder)
    (folder / "scenarios" / "dear.yaml").write_text("base: site\ntariff: {kind: flat, eur_per_kwh: 0.4}\n")
    (folder / "sacct.txt").write_text(SACCT)
    (folder / "queue.csv").write_text(SNAPSHOT)
    (folder / "trace.csv").write_text(TRACE)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_functions_write_the_same_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one folder by the command line, then in one of the same path by Python."""
    monkeypatch.setattr("planner.runs.measured_replays.cpu_now_s", lambda: 0.0)
    here = tmp_path / "here"
    found = []
    for way in (0, 1):
        here.mkdir()
        monkeypatch.chdir(_site(here))
        for words, function in COMMANDS[name]:
            if way == 0:
                assert command_line(list(words)) == 0
            else:
                shown = function()
                assert "\n" not in repr(shown)
                assert repr(shown).startswith("<")
                assert "<table>" in shown._repr_html_()
        found.append({_steady("x.html", path.encode()): _steady(path, text) for path, text in tree(here).items()})
        monkeypatch.chdir(tmp_path)
        here.rename(tmp_path / f"way{way}")
    assert found[0].keys() == found[1].keys()
    assert [path for path in found[0] if found[0][path] != found[1][path]] == []


@pytest.mark.parametrize(
    ("command", "function"),
    [
        (main.plan, planner.plan),
        (now.now, planner.now),
        (run_days.run_range, planner.run),
        (book.book, planner.book),
        (compare.compare, planner.compare),
        (report.report, planner.report),
        (simulate.simulate, planner.simulate),
    ],
)
def test_defaults_are_the_same(command: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Every option that a function has, under the same name, has the same default; times are written otherwise."""
    theirs = inspect.signature(command).parameters
    checked = 0
    for name, own in inspect.signature(function).parameters.items():
        other = theirs.get(name.removesuffix("_s")) or theirs.get(name)
        if other is None or inspect.Parameter.empty in (own.default, other.default):
            continue
        said = parse_duration(other.default) if name.endswith("_s") else other.default
        usual = None if own.default == () else Path(own.default) if name == "out" and own.default else own.default
        assert usual == said, name
        checked += 1
    assert checked > 3


def test_progress_is_told_in_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading, trying and writing are told; a listener changes no plan."""
    monkeypatch.chdir(write_small_site(tmp_path))
    told: list[str] = []
    with_it = planner.plan(DAY, on_progress=told.append, **QUICK)
    assert any(line.startswith("reading") for line in told)
    assert any(": worth " in line for line in told)
    assert all("\n" not in line for line in told)
    without = planner.plan(DAY, out="other", **QUICK)
    assert without.summary["totals"] == with_it.summary["totals"]
    assert with_it.frames().summary["totals"] == with_it.summary["totals"]
