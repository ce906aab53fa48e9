"""Mutations of what the planner wrote itself: run.json, summary.json, the three CSVs, and what lies beside them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

from planner.cli.main import run
from planner.store.provenance import digest, sealed
from tests.days import DAY
from tests.fuzz.case import Case
from tests.fuzz.damage import damaged
from tests.fuzz.odd import odd_value, odd_word
from tests.fuzz.tree import mutated

NEXT, AFTER = "2024-06-02", "2024-06-03"
HOW = ("-m", "multisearch", "--bound-time", "0", "--workers", "1", "-q", "--time-limit", "1s")
TABLES = ("schedule.csv", "deferred.csv", "segments.csv")
FILES = ("run.json", "run.json", "summary.json", "summary.json", *TABLES)

REFUSED = frozenset({2, 5})
CODES = {
    "audit": frozenset({0, 2, 5}),
    "report": frozenset({0, 2, 7}),
    "run": frozenset({0, 2, 5, 6}),
    "day": frozenset({0, 2, 6}),
    "check": frozenset({0, 2}),
}


def results(rng: random.Random, site: Path) -> Case:
    """Two planned days, one of them with a file changed, and a command that reads it back."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = run(["run", "--from", DAY, "--to", NEXT, *HOW])
    assert code == 0
    folder = site / "reports" / "site" / rng.choice([DAY, NEXT])
    forged = False
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    if rng.random() < 0.06:
        _litter(rng, site, folder)
        command = rng.choice(["report", "run", "day"])
    else:
        path = folder / rng.choice(FILES)
        _mutate(rng, path)
        forged = rng.random() < 0.4
        if forged:
            _forge(folder, path.name)
        command = rng.choice(["audit", "audit", "report", "run", "day", "check"])
    codes = CODES[command]
    if command == "audit":
        codes = _audited_codes(folder, before)
    return Case(_words(command, folder, site), codes, clean=command == "run" and not forged)


def _words(command: str, folder: Path, site: Path) -> list[str]:
    return {
        "audit": ["audit", str(folder.relative_to(site))],
        "report": ["report", "--by", "job"],
        "run": ["run", "--from", DAY, "--to", AFTER, *HOW],
        "day": ["--day", AFTER, *HOW],
        "check": ["check", "--day", AFTER],
    }[command]


def _audited_codes(folder: Path, before: dict[str, bytes]) -> frozenset[int]:
    """What the audit may say: clean only where nothing changed; anything where hashes and seal were made to fit."""
    if any(not (folder / name).is_file() for name in before):
        return REFUSED
    changed = [name for name in before if name != "run.json" and (folder / name).read_bytes() != before[name]]
    told, was = _json(folder / "run.json"), json.loads(before["run.json"])
    if told == was and not changed:
        return CODES["audit"]
    was_forged = told is not None and told.get("seal") != was["seal"]
    return CODES["audit"] if was_forged else REFUSED


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        return None
    return found if isinstance(found, dict) else None


def _mutate(rng: random.Random, path: Path) -> None:
    if rng.random() < 0.25:
        data = damaged(rng, path.read_bytes())
        if rng.random() < 0.05:
            path.unlink()
            rng.choice([path.mkdir, lambda: path.symlink_to(path.name), lambda: None])()
        else:
            path.write_bytes(data)
    elif path.suffix == ".json":
        told = mutated(rng, json.loads(path.read_text(encoding="utf-8")))
        if rng.random() < 0.02:
            text = "[" * rng.choice([900, 100_000])
        else:
            text = json.dumps(told, ensure_ascii=rng.random() < 0.5)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    else:
        _mutate_table(rng, path)


def _mutate_table(rng: random.Random, path: Path) -> None:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        row, other = rng.choice(rows[1:] or rows), rng.choice(rows)
        column = rng.randrange(min(len(row), len(other)))
        match rng.randrange(8):
            case 0 | 1 | 2 | 3:
                row[column] = odd_word(rng)
            case 4:
                row[column] = str(odd_value(rng))
            case 5:
                row[column] = other[column]
            case 6:
                rows.append(list(other))
            case _:
                rows.remove(row)
                if rng.random() < 0.5 or not rows:
                    rows.insert(rng.randrange(len(rows) + 1), row)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_bytes(text.getvalue().encode("utf-8", "surrogatepass"))


def _forge(folder: Path, name: str) -> None:
    """Make hash and seal fit what was changed, so that what lies behind them is reached."""
    run_file = folder / "run.json"
    told = _json(run_file)
    if told is None:
        return
    if name != run_file.name and isinstance(told.get("outputs"), dict) and (folder / name).is_file():
        told["outputs"][name] = digest(folder / name)
    try:
        run_file.write_text(json.dumps(sealed(told)), encoding="utf-8")
    except (ValueError, RecursionError):
        return


def _litter(rng: random.Random, site: Path, folder: Path) -> None:
    """Things beside the results that killed runs or people left."""
    day = folder.name
    match rng.randrange(7):
        case 0:
            (folder.parent / f".{day}.lock").write_bytes(b"\xff" * rng.choice([0, 4, 5000]))
        case 1:
            shutil.copytree(folder, folder.parent / f".{day}.new-{rng.randrange(99999)}")
        case 2:
            shutil.copytree(folder, folder.parent / f".{day}.old-{rng.randrange(99999)}")
            shutil.rmtree(folder)
        case 3:
            (site / "reports" / ".index.html.new-1").write_text("<html")
            (site / "reports" / "index.html").write_bytes(b"\x00")
        case 4:
            (site / "reports" / "site" / rng.choice(["costs", "2024-13-45", ".hidden", "\x1b[31m", "x" * 200])).mkdir()
        case 5:
            (site / "reports" / "index.html").unlink()
        case _:
            (folder.parent / f".{AFTER}.lock").mkdir()
