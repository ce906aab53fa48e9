"""Cases made from the command tree and the schema of scenarios: every option and key in turn, several things at once.

Most values are valid and extreme, so that at least half of the cases do what they were asked. Files of the site are
odd on top of that: other encodings, links, pipes, damage, contents that change while they are read.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import itertools
import lzma
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from planner.places import TRACE
from planner.scenario.reference import schema_keys
from tests.days import DAY
from tests.faults.commands import ended
from tests.faults.fake_slurm import write_slurm_site
from tests.fuzz import accounts, dependencies, jobs, learning, results, scenario, series, site, states, tables
from tests.fuzz.case import Case, Make
from tests.fuzz.command_tree import commands
from tests.fuzz.damage import damaged
from tests.fuzz.keys import accepted
from tests.fuzz.odd import odd_word
from tests.fuzz.options import BASES, GIVEN_ELSEWHERE, NEXT, QUICK, values_of
from tests.fuzz.surroundings import odd_surroundings

DOCUMENTED = frozenset({0, 2, 3, 4, 6, 7, 8, 9})
"""Exit codes that a case may have: all that are documented but those of a bug and of a signal; an audit also 5."""

FORMATS: dict[str, Make] = {
    "swf": jobs.swf,
    "csv": jobs.job_csv,
    "parquet": jobs.job_parquet,
    "dependencies": dependencies.dependencies,
    "accounts": accounts.accounts,
    "learning": learning.learning,
    "scenario": scenario.scenario,
    "table": tables.pue_table,
    "nameplate": tables.nameplate,
    "tariff": series.tariff,
    "carbon": series.carbon,
    "epw": series.epw,
    "tmy3": series.tmy3,
    "open-meteo": series.open_meteo,
    "weather-csv": series.weather_csv,
    "solar": series.solar,
    "forecast": series.forecast,
    "results": results.results,
}
STATES: dict[str, Make] = {
    "snapshot": states.snapshot,
    "nodes": states.nodes,
    "slurm": states.slurm_queue,
    "journal": states.journal,
    "learned": states.learned,
}
"""Mutations that know what they mutate; each format that is read has its own. `STATES` need a site with results."""

PROCESSES = 97
"""One case in so many is a process of its own, in odd surroundings; the others are forked from one that has begun."""

Obligation = tuple[str, str, str]
"""What a case is about: an option of a command, a key of a scenario, or a format of files."""


@functools.cache
def obligations() -> tuple[Obligation, ...]:
    """Everything that must have a case, the three kinds mixed."""
    options = [
        ("option", name, parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.name))
        for name, command in commands().items()
        for parameter in command.params
    ]
    options = [each for each in options if each[2] not in GIVEN_ELSEWHERE]
    keys = [("key", command, key) for key in schema_keys() for command in ("", "check")]
    formats = [("format", "", name) for name in (*FORMATS, *STATES)] * (len(options) // len(FORMATS) // 4)
    mixed = itertools.chain.from_iterable(itertools.zip_longest(options, keys, formats))
    return tuple(each for each in mixed if each is not None)


def without_a_case() -> list[str]:
    """Commands, options and arguments that nobody has given words or values."""
    missing = [f"plan {name}" for name in commands() if name not in BASES]
    for name, command in commands().items():
        for parameter in command.params:
            is_option = parameter.param_type_name == "option"
            word = parameter.opts[0] if is_option else str(parameter.name)
            is_known = word in GIVEN_ELSEWHERE or getattr(parameter, "is_flag", False)
            if not is_known and not values_of(name, word):
                missing.append(f"plan {name} {word}")
    return missing


def about_of(number: int) -> str:
    """What the case of a number is about."""
    kind, command, name = obligations()[number % len(obligations())]
    return f"{kind} {name}" if kind == "format" else f"{kind} plan {command} {name}".replace("  ", " ")


def case_of(number: int, place: Path) -> Case:
    """The case of a number in a site of its own."""
    rng = random.Random(f"constructed:{number}")
    kind, command, name = obligations()[number % len(obligations())]
    if kind == "format" and name in FORMATS:
        site.write_site(place)
        with contextlib.chdir(place):
            made = FORMATS[name](rng, place)
        return Case(made.argv, made.codes | DOCUMENTED, made.clean)
    shutil.copytree(template(), place, symlinks=True)
    if kind == "format":
        return STATES[name](rng, place)
    words = list(BASES[command])
    if kind == "key":
        words += accepted(template(), name, number // len(obligations())) or ()
    else:
        words = _with(rng, command, words, name)
    for _ in range(rng.choice([0, 0, 1, 2])):
        words = _with(rng, command, words, rng.choice(_words_of(command)))
    if "--set" in _words_of(command):
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            words += accepted(template(), rng.choice(schema_keys()), rng.randrange(9)) or ()
    if rng.random() < 0.12:
        words[rng.randrange(len(words))] = odd_word(rng).replace("\x00", "")[:20_000]
    changing = None
    for _ in range(rng.choice([0, 0, 0, 1, 2, 3])):
        changing = rng.choice(ODDITIES)(rng, place) or changing
    if "PLANNED" in words:
        planned = next((place / "reports" / "slurm").glob("2*"), None)
        words = [str(planned) if word == "PLANNED" else word for word in words]
    codes = DOCUMENTED | {5} if command in ("audit", "slurm apply", "slurm undo", "slurm verify") else DOCUMENTED
    around = odd_surroundings(rng) if number % PROCESSES == 0 else None
    return Case([*command.split(), *words], codes, changing=changing, around=around)


def _words_of(command: str) -> list[str]:
    return [p.opts[0] if p.param_type_name == "option" else str(p.name) for p in commands()[command].params]


def _with(rng: random.Random, command: str, words: list[str], name: str) -> list[str]:
    """The words with an option or argument set; one that is there already gets the new value."""
    values = values_of(command, name)
    parameter = next(p for p in commands()[command].params if name in (p.opts[0], p.name))
    if name in GIVEN_ELSEWHERE:
        return words
    if getattr(parameter, "is_flag", False):
        return [*words, rng.choice([*parameter.opts, *parameter.secondary_opts])]
    assert values is not None, f"plan {command} {name} has no values"
    value = rng.choice(values)
    if parameter.param_type_name != "option":
        arguments = [p for p in commands()[command].params if p.param_type_name != "option"]
        place = arguments.index(parameter)  # the words of `BASES` begin with the arguments
        return [*words[:place], value, *words[place + 1 :]]
    for spelling in parameter.opts:
        if spelling in words and words.index(spelling) + 1 < len(words):
            place = words.index(spelling) + 1
            return [*words[:place], value, *words[place + 1 :]]
    return [*words, name, value]


@functools.cache
def template() -> Path:
    """A site with a file of every format, days that were planned, and a Slurm; made once, removed with the process."""
    import atexit
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="constructed-"))
    atexit.register(_remove, folder, os.getpid())
    made = site.write_site(folder / "site")
    write_slurm_site(made)
    texts = {
        "scenarios/other.yaml": "base: site\ndescription: another\nweather: {source: constant, temperature_c: 33}\n",
        "prices.csv": site.PRICES,
        "carbon.csv": site.CARBON,
        "solar.csv": site.SOLAR,
        "weather.csv": site.WEATHER,
        "forecast.csv": site.FORECAST,
        "weather.json": site.OPEN_METEO,
        "weather.epw": site.EPW,
        "sacct.txt": accounts.TEXT,
        "finished.csv": learning.TABLE,
        "now.csv": "job_id,submit_time,requested_h,units,cores_per_unit,state,start_time,end_time,nodes\n"
        "a,2024-06-01T05:00:00Z,4,1,4,running,2024-06-01T05:30:00Z,,cpu1\nb,2024-06-01T05:00:00Z,4,2,8,pending,,,\n",
        "nodes.csv": "node,state,from,to\ncpu2,drain,2024-06-01T00:00:00Z,\n",
    }
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
    (made / "jobs/queue.csv.gz").write_bytes(gzip.compress(site.JOBS.encode()))
    (made / TRACE).parent.mkdir(parents=True)
    (made / TRACE).write_bytes(gzip.compress(site.CURIE.encode()))
    (made / "jobs/trace.swf.xz").write_bytes(lzma.compress(site.SWF.encode()))
    (made / "link.csv").symlink_to("jobs/queue.csv")
    (made / "link.txt").symlink_to("sacct.txt")
    (made / "real").mkdir()
    (made / "link").symlink_to("real")
    for words in (
        ("run", "--from", DAY, "--to", NEXT, "--out", "planned", "-q", *QUICK),
        ("now", "--scenario", "slurm", "-m", "hold", "--bound-time", "0", "-q", "--workers", "1"),
        ("slurm", "snapshot", "--out", "saved"),
        ("power", "learn", "--from", "finished.csv", "--out", "learned.json", "-q"),
    ):
        code, told = ended(made, words)
        assert code == 0, told
    return made


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _files(place: Path) -> list[Path]:
    """Files of the site that commands read."""
    found = [path for path in place.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted(path for path in found if path.relative_to(place).parts[0] != "bin")


def _other_encoding(rng: random.Random, place: Path) -> None:
    """Another way to write the same text."""
    path = rng.choice([path for path in _files(place) if path.suffix in (".csv", ".yaml", ".swf", ".txt")])
    text = path.read_bytes()
    ways: tuple[Callable[[bytes], bytes], ...] = (
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.rstrip(b"\n"),
        lambda data: data.decode(errors="replace").encode("utf-16"),  # it may be torn already
        lambda data: data + b"\x1a",
    )
    path.write_bytes(rng.choice(ways)(text))


def _linked(rng: random.Random, place: Path) -> None:
    """A file by way of one or two links, or of one that leads nowhere or to itself."""
    path = rng.choice(_files(place))
    moved, between = (path.with_name(f"{path.name}.{word}") for word in ("moved", "between"))
    path.rename(moved)
    between.symlink_to(moved)
    path.symlink_to(rng.choice([moved, moved, between, place / "nowhere", path]))


def _no_file(rng: random.Random, place: Path) -> None:
    """A pipe, a folder, a device or nothing in the place of a file."""
    path = rng.choice(_files(place))
    path.unlink()
    rng.choice([lambda: os.mkfifo(path), path.mkdir, lambda: path.symlink_to("/dev/zero"), lambda: None])()


def _damaged(rng: random.Random, place: Path) -> None:
    """A file with something wrong."""
    path = rng.choice(_files(place))
    path.write_bytes(damaged(rng, path.read_bytes()))


def _sparse(rng: random.Random, place: Path) -> None:
    """A file of gigabytes in which there is next to nothing."""
    os.truncate(rng.choice(_files(place)), rng.choice([10**6, 3 * 1024**3]))


def _changing(rng: random.Random, place: Path) -> Path:
    """A file that is written anew all the time, now whole and now cut."""
    return rng.choice(_files(place))


ODDITIES: tuple[Callable[[random.Random, Path], Path | None], ...] = (
    *(_other_encoding, _other_encoding, _linked, _linked, _changing, _changing, _no_file, _damaged, _sparse),
)
