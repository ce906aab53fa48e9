"""Mutated command lines: odd values of options, options that are missing, repeated or unknown."""

from __future__ import annotations

import random
from pathlib import Path

from tests.days import DAY
from tests.fuzz.case import Case
from tests.fuzz.odd import MOMENTS, odd_number, odd_word

_PLAN = {
    "--scenario": "site",
    "--method": "multisearch",
    "--time-limit": "1s",
    "--bound-time": "1s",
    "--seed": "1",
    "--jobs": "jobs/units.csv",
    "--out": "reports",
    "--set": "seed=1",
    "--also": "swf",
    "--workers": "1",
    "--engine": "cpsat",
    "--iterations": "20",
}
_COMMANDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "": ([], {"--day": DAY, **_PLAN}),
    "run": ([], {"--from": DAY, "--to": DAY, **_PLAN}),
    "check": (
        [],
        {"--day": DAY, "--scenario": "site", "--jobs": "jobs/units.csv", "--set": "seed=1", "--out": "reports"},
    ),
    "audit": (["reports/site/" + DAY], {}),
    "report": ([], {"--day": DAY, "--month": "2024-06", "--by": "user", "--scenario": "site", "--out": "reports"}),
    "show": (["methods"], {}),
    "init": (["new"], {}),
    "table build": (
        [],
        {"--out": "t.csv", "--plant": "air", "--max-power-kw": "3", "--power-step-w": "500", "--step-c": "2.5"},
    ),
    "power learn": (
        [],
        {"--from": "jobs/units.csv", "--out": "power.json", "--until": DAY, "--scenario": "site", "--set": "seed=1"},
    ),
    "power errors": (
        [],
        {"--from": "jobs/units.csv", "--w-per-core": "9", "--skip-days": "0", "--set": "power.metered=job"},
    ),
    "simulate": (
        ["jobs/trace.swf"],
        {
            "--policy": "easy",
            "--estimate": "requested",
            "--processors": "32",
            "--metrics": "bsld",
            "--trim": "none",
            "--correction": "steps",
            "--partition": "1,2",
            "--deadlines": "20",
            "--seed": "1",
            "--out": "replayed",
        },
    ),
    "compare": (
        ["site", "sample"],
        {
            "--day": DAY,
            "--method": "est",
            "--processes": "1",
            "--out": "reports",
            "--baseline": "site",
            "--set": "seed=1",
        },
    ),
    "study deadlines": (["jobs/trace.swf"], {"--percent": "20", "--seeds": "1", "--estimate": "actual", "--out": "o"}),
    "study metrics": (["jobs/trace.swf"], {"--processors": "32", "--part": "policies", "--out": "o"}),
}
_FLAGS = (
    "--json",
    "--quiet",
    "--fresh",
    "--until-empty",
    "--no-page",
    "--help",
    "--version",
    "--frobnicate",
    "-h",
    "--",
)


def command(rng: random.Random, site: Path) -> Case:
    """A command line with something odd in it."""
    words, (arguments, known) = rng.choice(list(_COMMANDS.items()))
    needed = {
        key: value
        for key, value in known.items()
        if key in ("--day", "--from", "--to", "--processes") or words == "table build"
    }
    if "--iterations" in known:
        quick = ("--iterations", "--method", "--time-limit", "--bound-time", "--workers")
        needed |= {key: known[key] for key in quick}
    if words == "report":
        needed = {}
    options = dict(rng.sample(sorted(known.items()), rng.randrange(min(4, len(known)) + 1))) if known else {}
    options = needed | options
    if options and rng.random() < 0.8:
        options[rng.choice(sorted(options))] = _value(rng)
    if arguments and rng.random() < 0.5:
        arguments = [_value(rng) for _ in range(rng.choice([0, 1, 2]))]
    argv = [part for pair in options.items() for part in pair]
    if argv and rng.random() < 0.05:
        del argv[rng.randrange(len(argv))]
    if rng.random() < 0.15:
        argv.insert(rng.randrange(len(argv) + 1), rng.choice(_FLAGS))
    if rng.random() < 0.05:
        argv.append(_value(rng))
    # an audit or a report finds no day here
    return Case([*words.split(), *argv, *arguments])


def _value(rng: random.Random) -> str:
    text = rng.choice([odd_number, odd_word, odd_word, lambda r: r.choice(MOMENTS), _path])(rng)
    return text.replace("\x00", "")[:20_000] if rng.random() < 0.98 else "\udcff\udc80"


_PATHS = (
    *("jobs", "scenarios/site.yaml", "tables/small.csv", "/dev/null", "nowhere/x", "x" * 300, "a/" * 3000),
    *("jobs/trace.swf", "\udcff.csv", "\udcff", "/proc/self/mem", "/", "", "-", "--", "-m", "2024-06-0\u0661"),
    *("9999-12-31", "0001-01-01"),
)


def _path(rng: random.Random) -> str:
    return rng.choice(_PATHS)
