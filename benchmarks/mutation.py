"""How many small changes to the code the tests notice. Run: ``python benchmarks/mutation.py --seed 1``.

A mutant is the code with one change: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``, ``min`` for ``max``, a
constant plus one, a condition turned round, a statement dropped. One is drawn from every room, the others from all of
the code alike. A mutant is caught when a test fails, when Python crashes, or when its tests use far more CPU time than
they need without it. It survives when they all pass, and is undecided after ``--limit`` seconds; neither is noticed. A
survivor is an equivalent mutant, or a claim that no test makes.

First the tests are run once and watched, folder by folder: what each test file enters, and how long it takes, is kept
in the file WATCHED, and files that are not in it are watched in the next run. The tests of a mutant are those that
enter its function: the ones that import its file or hold whole outputs, then those of its room or named for the file,
then others, the quickest of each first, as many as ``--seconds`` allows; where none was seen to enter it, those near
it. Compiled code cannot be watched: a kernel counts as entered by whatever enters a function that calls it. Machine
code is kept by the text of its sources, so a mutant of a kernel is compiled anew, in a cache of its own; those come
last.

Mutants run one by one in a copy of the tree. Verdicts are kept in the file OUT: a second run goes on where the first
one ended, and ``--again`` tries what was not noticed anew, beside the first verdict.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from planner.places import CACHE, kept_folder

ROOT = Path(__file__).resolve().parents[1]

BLIND = ("faults", "hostile", "fuzz", "test_wheel.py", "test_tutorials.py", "test_document_commands.py")
"""Tests that run the planner in processes of its own, where nothing can be watched."""

WHOLE_OUTPUTS = "tests/as_approved/"
"""Tests that hold what commands print and write to the byte: whatever they enter, they see."""

COMPILED = ("kernel", "part")
"""The decorators of compiled functions."""

SINGLE_FILES = "single files"
"""The room of the files that stand beside the rooms."""

MOST_MEMORY = 12 * 2**30
"""Address space of the tests of a mutant [bytes]."""

WATCHED_S = 4.0
"""How long a test file is watched; the rest of its tests is taken to be alike [s]."""

COMPILING_S = 240.0
"""CPU time that compiling all kernels anew may take [s]."""

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
}


@dataclass(frozen=True)
class Mutant:
    """One change to one file; ``begin`` and ``end`` are offsets in its bytes, ``function`` has the names around it."""

    room: str
    path: str
    function: str
    line: int
    begin: int
    end: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What tells mutants apart as long as the line stays where it is."""
        return f"{self.path}:{self.line}: {self.before} -> {self.after} @{self.begin}"


def all_mutants() -> list[Mutant]:
    """All mutants of all files."""
    return [mutant for path in sorted((ROOT / "planner").rglob("*.py")) for mutant in mutants_of(path)]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = path.read_bytes()
    name = path.relative_to(ROOT)
    room = name.parts[1] if len(name.parts) > 2 else SINGLE_FILES
    lines = [0]
    for text in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(text))
    tree = ast.parse(source)
    functions = list(_functions(tree))
    for node, after in _changes(tree):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = lines[node.lineno - 1] + node.col_offset
        end = lines[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(source[begin:end].decode().split())
        around = next((name for name, each in functions if each.lineno <= node.lineno <= (each.end_lineno or 0)), "")
        yield Mutant(room, name.as_posix(), around, node.lineno, begin, end, before, after)


def _functions(tree: ast.AST, outer: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions and methods of a file by their names, without those inside of others."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield outer + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{outer}{node.name}.")
        elif not isinstance(node, ast.expr):
            yield from _functions(node, outer)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Every place that can be changed, with its new text."""
    for node in _code(tree):
        if isinstance(node, ast.expr):
            for changed in _other_expressions(node):
                yield node, f"({ast.unparse(changed)})"
        elif isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Constant):
            yield node.test, f"(not ({ast.unparse(node.test)}))"
        elif isinstance(node, ast.AugAssign) and type(node.op) in SWAPS:
            yield node, ast.unparse(ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value))
        elif isinstance(node, (ast.Return, ast.Continue, ast.Break)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield node, "pass"


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something: no annotations, decorators or texts, and no ``strict`` of ``zip``.

    That one is a check of its own, which only a fault elsewhere would set off.
    """
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _code(child)


def _other_expressions(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression can become."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            yield ast.Compare(node.left, [*node.ops[:k], SWAPS[type(op)](), *node.ops[k + 1 :]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value + 1 != node.value:
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.Attribute(node.value, NAMES[node.attr])
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


@dataclass
class Watched:
    """What one test file does: how long it takes, and the functions of the planner that it enters, as `path:name`."""

    seconds: float
    entered: set[str]


class Watcher:
    """A plugin of pytest that notes which functions each test file enters, by the first and last case of each test."""

    def __init__(self) -> None:
        self._entered: dict[str, dict[int, CodeType]] = defaultdict(dict)
        self._seconds: dict[str, float] = defaultdict(float)
        self._failed: set[str] = set()
        self._cases: dict[str, list[pytest.Item]] = defaultdict(list)
        self._skipped: Counter[str] = Counter()
        self._ran: Counter[str] = Counter()
        self._now: dict[int, CodeType] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out all cases of a test but the first and the last."""
        for item in items:
            self._cases[item.nodeid.split("[")[0]].append(item)
        kept = {id(item) for cases in self._cases.values() for item in (cases[0], cases[-1])}
        items[:] = [item for item in items if id(item) in kept]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long all cases take, if those between are like the last one, and whether one failed."""
        name = report.nodeid.split("::")[0]
        cases = self._cases[report.nodeid.split("[")[0]]
        is_last = report.when == "call" and report.nodeid == cases[-1].nodeid
        self._seconds[name] += report.duration * (max(1, len(cases) - 1) if is_last else 1)
        if report.failed:
            self._failed.add(name)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin to watch, if this is the first test, and note all for the file of this one."""
        name = item.nodeid.split("::")[0]
        if self._seconds[name] > WATCHED_S:
            self._skipped[name] += 1
            pytest.skip("seen enough of this file")
        self._ran[name] += 1
        self._now = self._entered[name]
        sys.settrace(self._note)
        threading.settrace(self._note)

    def _note(self, frame: FrameType, event: str, arg: object) -> None:
        if id(frame.f_code) not in self._now:
            self._now[id(frame.f_code)] = frame.f_code

    def found(self, tree: Path) -> dict[str, dict[str, Any]]:
        """What was seen, by test file, as plain data; a file that fails without any mutant enters nothing."""
        sys.settrace(None)
        inside = f"{tree.resolve()}/"
        return {
            name: {
                "seconds": round(self._seconds[name] * (1 + self._skipped[name] / self._ran[name]), 2),
                "entered": sorted(
                    f"{code.co_filename.removeprefix(inside)}:{code.co_qualname.split('.<')[0]}"
                    for code in codes.values()
                    if code.co_filename.startswith(f"{inside}planner/") and name not in self._failed
                ),
            }
            for name, codes in self._entered.items()
        }


def watch(tests: Sequence[str], out: Path) -> None:
    """Run tests in this process, and write what they enter."""
    watcher = Watcher()
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", "--tb=line"]
    pytest.main([*options, *tests], plugins=[watcher])
    out.write_text(json.dumps(watcher.found(Path.cwd())), encoding="utf-8")


def watched_tests(kept: Path, tree: Tree) -> dict[str, Watched]:
    """What every test file enters: from an earlier run, or seen now, folder by folder."""
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    folders = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT)
        if name.parts[1] not in BLIND and name.as_posix() not in rows:
            folders[name.parts[1] if len(name.parts) > 2 else ""].append(name.as_posix())
    for folder, tests in folders.items():
        print(f"watching {len(tests)} files of tests/{folder}", flush=True)
        rows |= {test: {"seconds": 0.0, "entered": []} for test in tests} | tree.watched(tests)
        kept.write_text(json.dumps(rows), encoding="utf-8")
    return {name: Watched(row["seconds"], set(row["entered"])) for name, row in rows.items() if row["entered"]}


class Choice:
    """Chooses the tests of mutants."""

    def __init__(self, watched: dict[str, Watched], most_s: float) -> None:
        self._watched, self._most_s = watched, most_s
        self._texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in watched}
        self._calls, self._compiled = _calls()

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The closest test files that enter a mutant's function, else those near it; at least one if there is any."""
        near = {name for name, seen in self._watched.items() if self._is_entered(mutant, name, seen)}
        # Only the begin of a test file is watched: what was not seen there may come later.
        near = near or {name for name in self._watched if self._distance(mutant, name) < 2}
        chosen: list[str] = []
        left_s = self._most_s
        for name in sorted(near, key=lambda name: (self._rank(mutant, name), self._watched[name].seconds)):
            if not chosen or self._watched[name].seconds <= left_s:
                chosen.append(name)
                left_s -= self._watched[name].seconds
        return chosen

    def is_compiled(self, mutant: Mutant) -> bool:
        """Whether a mutant changes a compiled function."""
        return mutant.function in self._compiled

    def seconds_of(self, tests: Sequence[str]) -> float:
        """How long tests take without any mutant."""
        return sum(self._watched[name].seconds for name in tests)

    def _is_entered(self, mutant: Mutant, name: str, seen: Watched) -> bool:
        is_close = self._distance(mutant, name) == 0
        if not mutant.function:
            return is_close or any(each.startswith(f"{mutant.path}:") for each in seen.entered)
        if not self.is_compiled(mutant):
            return f"{mutant.path}:{mutant.function}" in seen.entered
        callers = self._callers(mutant.function)
        return is_close or not callers.isdisjoint(seen.entered)

    def _rank(self, mutant: Mutant, name: str) -> int:
        """In which turn a test file comes: by its distance, one that holds whole outputs with the closest."""
        return 0 if name.startswith(WHOLE_OUTPUTS) else self._distance(mutant, name)

    def _distance(self, mutant: Mutant, name: str) -> int:
        """0: the test file imports the mutant's file; 1: it is of its room or named for the file; 2: neither."""
        module = Path(mutant.path).with_suffix("").parts
        text = self._texts[name]
        if ".".join(module) in text or f"from {'.'.join(module[:-1])} import {module[-1]}" in text:
            return 0
        return 1 if name.startswith(f"tests/{mutant.room}/") or module[-1] in Path(name).stem else 2

    @cache  # noqa: B019 - there is one choice in a run
    def _callers(self, function: str) -> frozenset[str]:
        """What calls a compiled function, as `path:name`, and what calls compiled callers in turn."""
        found: set[str] = set()
        waiting = [function]
        while waiting:
            new = self._calls[waiting.pop()] - found
            found |= new
            waiting += [name for name in (each.split(":")[1] for each in new) if name in self._compiled]
        return frozenset(found)


def _calls() -> tuple[dict[str, set[str]], set[str]]:
    """The functions of the planner, as `path:name`, by the names that occur in them; and the names of compiled ones."""
    calls: dict[str, set[str]] = defaultdict(set)
    compiled = set()
    for path in (ROOT / "planner").rglob("*.py"):
        for name, node in _functions(ast.parse(path.read_bytes())):
            if any(isinstance(each, ast.Name) and each.id in COMPILED for each in node.decorator_list):
                compiled.add(name)
            for each in ast.walk(node):
                if isinstance(each, ast.Name):
                    calls[each.id].add(f"{path.relative_to(ROOT).as_posix()}:{name}")
    return calls, compiled


class Tree:
    """A copy of the tree in which mutants run, with a cache of compiled code of its own."""

    def __init__(self, folder: Path, limit_s: float) -> None:
        self._folder, self._limit_s = folder / "tree", limit_s
        shutil.copytree(ROOT, self._folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        subprocess.run([sys.executable, "-m", "tests.compile_kernels"], cwd=ROOT, check=True)
        if (kept := kept_folder()) is not None:
            shutil.copytree(kept.parent, folder / "compiled" / kept.parent.name)
        self._environment = os.environ | {
            "PYTHONPATH": str(self._folder),
            CACHE: str(folder / "compiled"),
        }

    def watched(self, tests: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What tests enter."""
        out = self._folder.parent / "watched.json"
        command = [sys.executable, __file__, "--watch", *tests, "--out", str(out)]
        subprocess.run(command, cwd=self._folder, env=self._environment, check=True)
        found: dict[str, dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
        return found

    def verdict(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[str, str]:
        """Whether a mutant is caught or survives tests that take so long without it, and what caught it."""
        path = self._folder / mutant.path
        source = path.read_bytes()
        path.write_bytes(source[: mutant.begin] + mutant.after.encode() + source[mutant.end :])
        try:
            return self._run(tests, int(4 * seconds + COMPILING_S))
        finally:
            path.write_bytes(source)

    def _run(self, tests: Sequence[str], most_cpu_s: int) -> tuple[str, str]:
        """Run tests until one fails."""
        command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        process = subprocess.Popen(
            [*command, *tests],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (most_cpu_s, most_cpu_s))
        try:
            output, _ = process.communicate(timeout=self._limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "undecided", f"{self._limit_s:.0f} s were over"
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        if process.returncode == 0:
            return "survived", ""
        if process.returncode == -signal.SIGTERM:
            raise SystemExit("something else ended the tests of a mutant; run again to go on")
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if failed:
            return "caught", failed[0][:200]
        if process.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
            return "caught", f"it used {most_cpu_s} s of CPU time"
        return "caught", f"exit code {process.returncode}"


def sample_of(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """One mutant of every room, and for the rest any of all others."""
    draw = random.Random(seed)
    rooms: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        rooms[mutant.room].append(mutant)
    chosen = [draw.choice(own) for own in rooms.values()][:count]
    taken = set(chosen)
    return [*chosen, *draw.sample([mutant for mutant in mutants if mutant not in taken], count - len(chosen))]


FIELDS = ("seed", "room", "path", "line", "begin", "before", "after", "verdict", "by", "seconds")


def known(out: Path, seed: int) -> dict[str, list[str]]:
    """Verdicts of earlier runs with this seed, the first ones first."""
    verdicts: dict[str, list[str]] = defaultdict(list)
    if out.exists():
        with out.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["seed"] == str(seed):
                    key = f"{row['path']}:{row['line']}: {row['before']} -> {row['after']} @{row['begin']}"
                    verdicts[key].append(row["verdict"])
    return verdicts


def keep(out: Path, row: dict[str, object]) -> None:
    """Add a verdict to the file."""
    is_new = not out.exists()
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def report(mutants: Sequence[Mutant], verdicts: dict[str, list[str]]) -> None:
    """Print the score of a sample, and what was not noticed."""
    tried = [mutant for mutant in mutants if verdicts[mutant.key]]
    missed = [mutant for mutant in tried if verdicts[mutant.key][0] != "caught"]
    share = f"{1 - len(missed) / len(tried):.0%}" if tried else "-"
    rooms = len({mutant.room for mutant in tried})
    print(f"{len(tried)} mutants of {rooms} rooms: {len(tried) - len(missed)} noticed, {share}")
    for mutant in sorted(missed, key=lambda mutant: (mutant.path, mutant.line)):
        told = ", then ".join(verdicts[mutant.key])
        print(f"  {told}: {mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}")


def main() -> None:
    """Draw mutants, run them, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=60, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path of the files to change")
    parser.add_argument("--out", type=Path, default=ROOT / "reports" / "mutants.csv")
    parser.add_argument("--watched", type=Path, default=ROOT / "reports" / "watched.json")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one mutant")
    parser.add_argument("--seconds", type=float, default=120.0, help="what the tests of one mutant take without it")
    parser.add_argument("--again", action="store_true", help="try what was not noticed anew")
    parser.add_argument("--watch", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.watch:
        watch(chosen.watch, chosen.out)
        return
    # What is started inherits both: a mutant may ask for memory without end.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    os.nice(10)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; run again to go on"))  # with the tests that run
    everyone = [mutant for mutant in all_mutants() if chosen.only in mutant.path]
    mutants = sample_of(everyone, min(chosen.sample, len(everyone)), chosen.seed)
    verdicts = known(chosen.out, chosen.seed)
    waiting = [m for m in mutants if not verdicts[m.key] or (chosen.again and verdicts[m.key][-1] != "caught")]
    print(f"{len(everyone)} mutants can be made; {len(waiting)} of {len(mutants)} to run", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder), chosen.limit)
        choice = Choice(watched_tests(chosen.watched, tree), chosen.seconds)
        for mutant in sorted(waiting, key=choice.is_compiled):  # what has to be compiled takes longest
            began = time.monotonic()
            tests = choice.tests_of(mutant)
            verdict, by = tree.verdict(mutant, tests, choice.seconds_of(tests)) if tests else ("survived", "no test")
            verdicts[mutant.key].append(verdict)
            seconds = round(time.monotonic() - began, 1)
            keep(chosen.out, asdict(mutant) | {"seed": chosen.seed, "verdict": verdict, "by": by, "seconds": seconds})
    report(mutants, verdicts)


if __name__ == "__main__":
    main()
