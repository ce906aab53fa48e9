"""How many small changes to the code the tests notice. Run: ``python benchmarks/mutation.py --out mutants.jsonl``.

A mutant is the code with one change: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``, ``min`` for ``max``, a
constant plus one, a condition turned round, a statement dropped. It is caught when a test that covers its file fails,
when Python crashes or when the time is up; it survives when all of these tests pass. A survivor is an equivalent
mutant, or a claim that no test makes.

Mutants are drawn at random by the seed, run one by one in a copy of the tree, and kept in the file OUT, a JSON object a
line: a second run goes on where the first one ended, and ``--again`` tries the survivors anew. A mutant of a compiled
file takes half a minute or more, because its kernels are compiled again; with ``--uncompiled`` kernels run as the plain
Python that they are written in, which suits small tests, and an index out of range is an error instead of a read past
the end.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

AUDIT = ("tests/accounting/test_audit_edges.py", "tests/accounting/test_audit.py")
SEARCH = (
    "tests/search/test_order_and_ties.py",
    "tests/search/test_delaying.py",
    "tests/search/test_margins.py",
    "tests/search/test_harvest_walk.py",
    "tests/search/test_walks.py",
    "tests/search/test_annealing.py",
    "tests/search/test_multisearch.py",
    "tests/search/test_whole_plan_rules.py",
    "tests/search/test_searches.py",
)
DOMAIN = (
    "tests/domain/test_allowed_classes.py",
    "tests/domain/test_dependencies.py",
    "tests/domain/test_horizon.py",
    "tests/domain/test_limits.py",
    "tests/domain/test_packing.py",
    "tests/domain/test_possible.py",
    "tests/domain/test_problem_columns.py",
    "tests/domain/test_sharing.py",
    "tests/accounting/test_settle.py",
    "tests/accounting/test_contracts.py",
)
MACHINE = ("tests/machine/test_machine_parts.py", "tests/machine/test_placing.py", "tests/machine/test_kernel.py")
ONLINE = ("tests/online/test_by_hand.py", "tests/online/test_giving_way.py", "tests/online/test_replay.py")
CP = (
    "tests/cp/test_model_parts.py",
    "tests/cp/test_repair.py",
    "tests/cp/test_constraints.py",
    "tests/cp/test_optimum.py",
    "tests/cp/test_engines.py",
)
DISPATCH = ("tests/small_dispatches/test_small_dispatches.py",)
FILES = (
    "tests/store/test_written_text.py",
    "tests/store/test_deadline_seconds.py",
    "tests/store/test_tables.py",
    "tests/store/test_results.py",
    "tests/store/test_costs.py",
    "tests/cli/test_audit_files.py",
)

TESTS: dict[str, dict[str, tuple[str, ...]]] = {
    "accounting": {
        "planner/accounting/audit.py": (*AUDIT, "tests/search/test_whole_plan_rules.py"),
        "planner/accounting/room.py": ("tests/accounting/test_energy.py", *AUDIT, "tests/cp/test_repair.py"),
        "planner/accounting/settle.py": (
            "tests/accounting/test_job_shares.py",
            "tests/accounting/test_settle.py",
            "tests/accounting/test_contracts.py",
        ),
        "planner/accounting/energy.py": ("tests/accounting/test_energy.py", "tests/accounting/test_settle.py", *AUDIT),
        "planner/accounting/battery_dispatch.py": ("tests/accounting/test_contracts.py",),
        "planner/accounting/promises.py": ("tests/planning/test_promises.py",),
        "planner/accounting/bound/*.py": (
            "tests/accounting/test_bound_by_hand.py",
            "tests/accounting/test_bound_promises.py",
            "tests/accounting/test_bound.py",
        ),
    },
    "domain": {
        "planner/domain/pue_table.py": ("tests/domain/test_limits.py", "tests/domain/test_linear_tables.py"),
        "planner/domain/node_text.py": ("tests/domain/test_node_lists.py", "tests/domain/test_node_names.py"),
        "planner/domain/job_order.py": SEARCH,
        "planner/domain/dealing.py": ("tests/domain/test_dealing.py",),
        "planner/domain/cluster.py": ("tests/domain/test_node_names.py", "tests/domain/test_node_lists.py", *DOMAIN),
        "planner/domain/*.py": DOMAIN,
    },
    "metrics": {"planner/metrics/*.py": ("tests/metrics/test_measures.py", "tests/metrics/test_replay_ledger.py")},
    "cooling": {
        "planner/cooling/*.py": (
            "tests/cooling/test_nameplate.py",
            "tests/cooling/test_picture.py",
            "tests/cooling/test_power.py",
        )
    },
    "inputs": {
        "planner/inputs/prices.py": ("tests/inputs/test_tariff.py", "tests/inputs/test_carbon.py"),
        "planner/inputs/weather/*.py": (
            "tests/inputs/test_weather.py",
            "tests/inputs/test_weather_typical.py",
            "tests/inputs/test_solar.py",
            "tests/inputs/test_open_meteo.py",
            "tests/inputs/test_season.py",
            "tests/inputs/test_wet_bulb.py",
            "tests/inputs/test_forecast_files.py",
        ),
        "planner/inputs/jobs/*.py": (
            "tests/inputs/test_job_table.py",
            "tests/inputs/test_job_table_bounds.py",
            "tests/inputs/test_job_table_files.py",
            "tests/inputs/test_read_jobs.py",
            "tests/inputs/test_rule_columns.py",
            "tests/inputs/test_swf.py",
            "tests/inputs/test_power_model.py",
        ),
        "planner/inputs/snapshots/*.py": (
            "tests/inputs/test_snapshot_tables.py",
            "tests/inputs/test_snapshot_round_trip.py",
            "tests/inputs/test_snapshot_mutations.py",
        ),
        "planner/inputs/slurm/*.py": (
            "tests/inputs/slurm_json/test_slurm_notations.py",
            "tests/inputs/slurm_json/test_slurm_hostlist.py",
            "tests/inputs/slurm_json/test_slurm_queue.py",
            "tests/inputs/slurm_json/test_slurm_nodes.py",
            "tests/inputs/slurm_json/test_slurm_machine.py",
            "tests/inputs/slurm_json/test_slurm_site.py",
            "tests/inputs/slurm_json/test_slurm_accounting.py",
            "tests/inputs/slurm_json/test_slurm_samples.py",
            "tests/inputs/books/test_sacct_text.py",
        ),
    },
    "scenario": {
        "planner/scenario/*.py": (
            "tests/scenario/test_scenario.py",
            "tests/scenario/test_strict_yaml.py",
            "tests/scenario/test_reference.py",
            "tests/scenario/test_named_nodes.py",
            "tests/scenario/test_down_nodes.py",
            "tests/cli/test_cooling_choices.py",
            "tests/cli/test_bad_input.py",
        )
    },
    "planning": {
        "planner/planning/carbon_goal.py": ("tests/planning/test_carbon_goal.py",),
        "planner/planning/*.py": (
            "tests/planning/test_ahead.py",
            "tests/planning/test_executed.py",
            "tests/planning/test_first_day.py",
            "tests/planning/test_overdue.py",
            "tests/planning/test_promises.py",
            "tests/cli/test_day.py",
            "tests/store/test_waits.py",
        ),
        "planner/power/*.py": ("tests/power/test_learned.py", "tests/power/test_time_order.py"),
    },
    "runs": {
        "planner/runs/book*.py": ("tests/cli/test_book.py",),
        "planner/runs/compare*.py": ("tests/cli/test_compare.py",),
        "planner/runs/simulate.py": ("tests/cli/test_simulate.py",),
        "planner/runs/*.py": (
            "tests/runs/test_rolling_rules.py",
            "tests/runs/test_policy_days.py",
            "tests/runs/test_figures.py",
            "tests/runs/test_whole_run.py",
            "tests/runs/test_clairvoyant.py",
            "tests/cli/test_run.py",
            "tests/cli/test_now.py",
        ),
    },
    "cli": {
        "planner/cli/*.py": (
            "tests/cli/test_words.py",
            "tests/cli/test_day_words.py",
            "tests/cli/test_bad_input.py",
            "tests/cli/test_run.py",
            "tests/cli/test_now.py",
            "tests/cli/test_compare.py",
            "tests/cli/test_simulate.py",
            "tests/cli/test_book.py",
            "tests/cli/test_study.py",
            "tests/cli/test_terminal.py",
        )
    },
    "pages": {
        "planner/pages/*.py": (
            "tests/pages/test_page_parts.py",
            "tests/pages/test_tables.py",
            "tests/pages/test_day_page.py",
            "tests/pages/test_other_pages.py",
            "tests/store/test_costs.py",
            "tests/cli/test_book.py",
        )
    },
    "slurm": {
        "planner/slurm/*.py": (
            "tests/slurm/test_slurm_changes.py",
            "tests/slurm/test_slurm_journal.py",
            "tests/slurm/test_slurm_holds.py",
            "tests/slurm/test_slurm_commands.py",
            "tests/slurm/test_slurm_verify.py",
            "tests/slurm/test_slurm_cli.py",
        )
    },
    "machine": {
        "planner/machine/packing.py": ("tests/domain/test_packing.py", *MACHINE),
        "planner/machine/*.py": MACHINE,
    },
    "search": {
        "planner/domain/result.py": ("tests/domain/test_candidate.py", *SEARCH),
        "planner/planning/ready.py": ("tests/planning/test_ready.py",),
        "planner/search/*.py": SEARCH,
    },
    "kernels": {
        "planner/search/kernel/*.py": ("tests/search/test_walks.py", "tests/search/test_annealing.py", *SEARCH),
        "planner/cp/dispatch/kernel/*.py": DISPATCH,
    },
    "online": {
        "planner/online/day_replay.py": ("tests/online/test_rules.py", "tests/online/test_easy_day.py"),
        "planner/online/kernel/learning.py": ("tests/online/test_predictors.py",),
        "planner/online/kernel/*.py": ONLINE,
        "planner/online/cvh.py": ("tests/online/test_predictors.py",),
        "planner/online/predict*.py": ("tests/online/test_predictors.py", *ONLINE),
        "planner/online/*.py": (*ONLINE, "tests/online/test_predictors.py"),
    },
    "cp": {
        "planner/cp/queue_model.py": ("tests/cp/test_queue_model.py", "tests/cp/test_dispatch_models.py"),
        "planner/cp/dispatch/*.py": ("tests/cp/test_dispatch_models.py", *DISPATCH),
        "planner/cp/*.py": CP,
        "planner/cp/engines/*.py": CP,
    },
    "store": {
        "planner/store/folder.py": ("tests/store/test_lock_identity.py", "tests/store/test_folder.py", *FILES),
        "planner/store/last_plan.py": ("tests/cli/test_situation.py", "tests/cli/test_run.py"),
        "planner/store/replay_files.py": ("tests/cli/test_simulate.py", "tests/cli/test_compare.py"),
        "planner/store/write.py": (*FILES, "tests/cli/test_day.py"),
        "planner/store/*.py": FILES,
    },
}
"""The tests that cover a file, by room: the first pattern that fits counts. Quick and sharp ones stand first."""

COMPILED = ("machine", "kernels", "online")
"""Rooms whose mutants are compiled."""

MOST_MEMORY = 12 * 2**30
"""Address space of the tests of a mutant [bytes]."""

OUT_OF_TIME = "the time limit"

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
    """One change to one file; ``begin`` and ``end`` are offsets in its bytes."""

    room: str
    path: str
    line: int
    begin: int
    end: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What tells mutants apart as long as the line stays where it is."""
        return f"{self.path}:{self.line}: {self.before} -> {self.after} @{self.begin}"


def mutants_of(room: str, path: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = (ROOT / path).read_bytes()
    lines = [0]
    for text in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(text))
    for node, after in _changes(ast.parse(source)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = lines[node.lineno - 1] + node.col_offset
        end = lines[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(source[begin:end].decode().split())
        yield Mutant(room, path, node.lineno, begin, end, before, after)


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
    """The nodes that do something: no annotations, decorators or texts."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
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
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.Attribute(node.value, NAMES[node.attr])
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def files_of(room: str) -> dict[str, tuple[str, ...]]:
    """The files of a room with the tests that cover each."""
    covered: dict[str, tuple[str, ...]] = {}
    for pattern, tests in TESTS[room].items():
        found = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))
        missing = [test for test in tests if not (ROOT / test).is_file()]
        if not found or missing:
            raise SystemExit(f"the table of tests is out of date: {pattern} fits {len(found)} files; no {missing}")
        for path in found:
            covered.setdefault(path, tests)
    return covered


class Tree:
    """A copy of the tree in which mutants run; where they are compiled, with a cache of its own."""

    def __init__(self, folder: Path, limit_s: float, *, compiles: bool, uncompiled: bool) -> None:
        self._folder, self._limit_s = folder / "tree", limit_s
        left_out = shutil.ignore_patterns(".*", "__pycache__", "reports")
        shutil.copytree(ROOT, self._folder, ignore=left_out)
        self._environment = os.environ | {
            "PYTHONPATH": str(self._folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if compiles:
            self._environment["NUMBA_CACHE_DIR"] = str(folder / "compiled")
        self._options: tuple[str, ...] = ()
        if uncompiled:
            self._environment["NUMBA_DISABLE_JIT"] = "1"
            # Random numbers are meant to run over; compiled code does so without a word.
            self._options = ("-W", "ignore:overflow:RuntimeWarning")

    def verdict(self, mutant: Mutant, tests: Sequence[str]) -> tuple[str, str]:
        """Whether a mutant is caught or survives, and what caught it."""
        path = self._folder / mutant.path
        source = path.read_bytes()
        path.write_bytes(source[: mutant.begin] + mutant.after.encode() + source[mutant.end :])
        try:
            return self.run(tests)
        finally:
            path.write_bytes(source)

    def run(self, tests: Sequence[str]) -> tuple[str, str]:
        """Run tests until one fails."""
        command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        process = subprocess.Popen(
            [*command, *self._options, *tests],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=self._limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "caught", OUT_OF_TIME
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        if process.returncode == 0:
            return "survived", ""
        if process.returncode == -signal.SIGTERM:
            raise SystemExit("something else ended the tests of a mutant; run again to go on")
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return "caught", failed[0][:200] if failed else f"exit code {process.returncode}"


def known(out: Path) -> dict[str, dict[str, object]]:
    """Verdicts of earlier runs; the last one of a mutant counts."""
    if not out.exists():
        return {}
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {row["key"]: row for row in rows}


def report(room: str, mutants: Sequence[Mutant], rows: dict[str, dict[str, object]]) -> None:
    """Print the score of a room and its survivors."""
    tried = [mutant for mutant in mutants if mutant.key in rows]
    survivors = [mutant for mutant in tried if rows[mutant.key]["verdict"] == "survived"]
    caught = len(tried) - len(survivors)
    late = sum(rows[mutant.key]["by"] == OUT_OF_TIME for mutant in tried)
    share = f"{caught / len(tried):.0%}" if tried else "-"
    print(
        f"{room}: {len(tried)} mutants, {caught} caught ({late} by the time limit), {len(survivors)} survived: {share}"
    )
    for mutant in sorted(survivors, key=lambda mutant: (mutant.path, mutant.line)):
        print(f"  {mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}")


def main() -> None:
    """Draw mutants, run them, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--room", choices=[*TESTS, "all"], default="all")
    parser.add_argument("--sample", type=int, default=100, help="mutants in each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path of the files to change")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for the tests of one mutant")
    parser.add_argument(
        "--files", type=int, help="so many test files of each mutant: quicker, and never a higher score"
    )
    parser.add_argument("--again", action="store_true", help="try the survivors of earlier runs anew")
    parser.add_argument("--unchecked", action="store_true", help="trust that the tests pass without any mutant")
    parser.add_argument("--uncompiled", action="store_true", help="run kernels as plain Python")
    chosen = parser.parse_args()
    # What is started inherits both: a mutant may ask for memory without end.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    os.nice(10)
    rows = known(chosen.out)
    drawn = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for room in TESTS if chosen.room == "all" else [chosen.room]:
            compiles = room in COMPILED and not chosen.uncompiled
            tree = Tree(Path(folder) / room, chosen.limit, compiles=compiles, uncompiled=chosen.uncompiled)
            tests_of = {path: tests[: chosen.files] for path, tests in files_of(room).items() if chosen.only in path}
            everyone = [mutant for path in tests_of for mutant in mutants_of(room, path)]
            mutants = random.Random(chosen.seed).sample(everyone, min(chosen.sample, len(everyone)))
            drawn[room] = mutants
            waiting = [
                m for m in mutants if m.key not in rows or (chosen.again and rows[m.key]["verdict"] == "survived")
            ]
            print(f"{room}: {len(everyone)} mutants can be made; {len(waiting)} of {len(mutants)} to run", flush=True)
            needed = {test: None for mutant in waiting for test in tests_of[mutant.path]}
            if needed and not chosen.unchecked and (sound := tree.run([*needed]))[0] != "survived":
                raise SystemExit(f"the tests fail without any mutant: {sound[1]}")
            for mutant in waiting:
                began = time.monotonic()
                verdict, by = tree.verdict(mutant, tests_of[mutant.path])
                row = {"key": mutant.key, **asdict(mutant), "verdict": verdict, "by": by}
                rows[mutant.key] = row | {"seconds": round(time.monotonic() - began, 1)}
                with chosen.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[mutant.key]) + "\n")
    for room, mutants in drawn.items():
        report(room, mutants, rows)


if __name__ == "__main__":
    main()
