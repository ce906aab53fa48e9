"""The engines: found, chosen, refused, killed, out of time; each time a status or a clear error, never a crash."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import docplex.cp.modeler as md
import numpy as np
import pytest
from docplex.cp.expression import integer_var, interval_var
from docplex.cp.model import CpoModel

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cp.cp_method import default_search
from planner.cp.engines import ENGINES, choose_engine, cpo, engine_named
from planner.cp.engines.engine import COMMUNITY_BITS, bits
from planner.cp.profit_model import ProfitModel
from planner.cp.relaxation import relaxation_search
from planner.cp.subproblem import Subproblem
from planner.domain.method_params import RelaxationParams
from planner.errors import InputError, SolverError
from planner.search.multisearch import multisearch
from tests import plain_day
from tests.cp.instances import tiny_problem
from tests.factories import random_problem

NAMES = ["cpsat", "cpo-community", "cpo"]


@pytest.fixture(params=NAMES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine that is installed."""
    name = str(request.param)
    if not ENGINES[name].available():
        pytest.skip(f"the engine {name} is not installed; {ENGINES[name].remedy}")
    return name


def intervals(count: int) -> CpoModel:
    """A model of free intervals, each with a million starts."""
    model = CpoModel(name="free")
    for number in range(count):
        model.add(interval_var(start=(0, 10**6), size=1, name=f"i{number}"))
    return model


def hard_day() -> ProfitModel:
    """A day of random jobs that no engine proves within seconds."""
    problem = replace(random_problem(np.random.default_rng(8), jobs=14), defer="free")
    return ProfitModel(problem, Subproblem.whole_day(problem))


def test_every_engine_is_known() -> None:
    """All engines are listed with their limits; the default one is always installed."""
    assert {name: engine.name for name, engine in ENGINES.items()} == {name: name for name in NAMES}
    assert ENGINES["cpsat"].version() is not None
    assert all(engine.limits and engine.remedy for engine in ENGINES.values())


def test_bits_are_counted_as_the_community_edition_does() -> None:
    """Starts count up to the number of intervals, absence counts one, alternatives their children, integers all."""
    assert bits(intervals(100)) == pytest.approx(100 * np.log2(100))
    model = CpoModel(name="small")
    job = interval_var(start=(0, 2), size=1, optional=True, name="job")
    model.add(md.alternative(job, [interval_var(size=1, optional=True, name=f"seat{k}") for k in range(8)]))
    model.add(integer_var(0, 15, name="number") >= 1)
    # One interval of its own: min(3, 1) starts and its absence is 1 bit, 8 seats are 3, 16 values are 4.
    assert bits(model) == pytest.approx(1 + 3 + 4)


def test_community_edition_refuses_where_the_bits_say_so() -> None:
    """140 free intervals are within 1000 bits, 141 are not, and the engine agrees."""
    engine = ENGINES["cpo-community"]
    if not engine.available():
        pytest.skip(f"the engine cpo-community is not installed; {engine.remedy}")
    small, large = intervals(140), intervals(141)
    assert bits(small) <= COMMUNITY_BITS < bits(large)
    assert engine.solve(small, time_limit_s=5).solution is not None
    with pytest.raises(SolverError, match="too large for the Community Edition"):
        engine.solve(large, time_limit_s=5)


def test_small_models_go_to_the_community_edition_and_large_ones_to_cpsat() -> None:
    """Without a name the best engine that can hold the model is chosen."""
    large = choose_engine(None, intervals(200))
    small = choose_engine(None, intervals(2))
    assert large.name == ("cpo" if ENGINES["cpo"].available() else "cpsat")
    if not ENGINES["cpo"].available():
        assert small.name == ("cpo-community" if ENGINES["cpo-community"].available() else "cpsat")


def test_an_unknown_engine_is_an_input_error() -> None:
    """The message lists the known ones."""
    with pytest.raises(InputError, match=f"known: {', '.join(ENGINES)}"):
        engine_named("gecode")


def test_a_missing_engine_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither choosing nor solving crashes."""
    monkeypatch.setattr(cpo, "executables", list)
    with pytest.raises(SolverError, match=r"pip install 'hpc-day-planner\[cpo\]'"):
        engine_named("cpo-community")
    with pytest.raises(SolverError, match="CPLEX_STUDIO_DIR"):
        choose_engine("cpo", intervals(2))
    with pytest.raises(SolverError, match="not installed"):
        ENGINES["cpo"].solve(intervals(2), time_limit_s=1)


def test_a_too_small_engine_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forcing the Community Edition on a large model says what to do."""
    monkeypatch.setattr(type(ENGINES["cpo-community"]), "available", lambda self: True)
    with pytest.raises(SolverError, match="--engine cpsat"):
        choose_engine("cpo-community", intervals(200))


def test_executables_are_looked_up_in_the_studio_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A licensed installation comes before what is on PATH; one that does not run is not available."""
    studio = tmp_path / "studio" / "cpoptimizer" / "bin" / "x86-64_linux"
    for folder in (studio, tmp_path / "path"):
        folder.mkdir(parents=True)
        (folder / "cpoptimizer").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (folder / "cpoptimizer").chmod(0o755)
    monkeypatch.setenv("CPLEX_STUDIO_DIR2211", str(tmp_path / "studio"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}")
    found = cpo.executables()
    assert found[0] == str(studio / "cpoptimizer")
    assert str(tmp_path / "path" / "cpoptimizer") in found
    assert cpo.refuses_large(found[0]) is None


def test_an_engine_that_dies_at_once_is_a_solver_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no plan to fall back on, so the error says which engine to try."""
    broken = tmp_path / "cpoptimizer"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setattr(cpo, "executables", lambda: [str(broken)])
    monkeypatch.setattr(cpo, "refuses_large", lambda path: False)
    with pytest.raises(SolverError, match="try --engine cpsat"):
        ENGINES["cpo"].solve(intervals(2), time_limit_s=1)
    problem = tiny_problem(1)
    seeded = multisearch(problem)
    kept = relaxation_search(problem, seeded, engine="cpo")
    assert kept.ledger.profit_eur == seeded.ledger.profit_eur


def test_killing_the_engine_leaves_its_best_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is killed after its first solution; that solution is the answer."""
    engine = ENGINES["cpo-community"]
    if not engine.available():
        pytest.skip(f"the engine cpo-community is not installed; {engine.remedy}")
    started: list[int] = []
    begin = cpo.CpoSolver.__init__

    def remember(self: object, *args: object, **kwargs: object) -> None:
        begin(self, *args, **kwargs)
        started.append(self.agent.process.pid)  # type: ignore[attr-defined]

    monkeypatch.setattr(cpo.CpoSolver, "__init__", remember)

    def kill_soon(value: float) -> bool:
        threading.Timer(0.05, os.kill, (started[-1], signal.SIGKILL)).start() if len(heard) == 0 else None
        heard.append(value)
        return False

    heard: list[float] = []
    model = hard_day()
    answer = engine.solve(model.cpo, time_limit_s=20, heard=kill_soon)
    assert answer.died
    assert answer.solution is not None
    assert answer.objective == max(heard)


def test_no_time_is_no_answer(engine: str) -> None:
    """A limit of 0 s is a status."""
    assert ENGINES[engine].solve(hard_day().cpo, time_limit_s=0).status == "unknown"


def test_one_second_is_kept(engine: str) -> None:
    """A limit of 1 s gives a solution of a small day, not an error."""
    answer = ENGINES[engine].solve(hard_day().cpo, time_limit_s=1, workers=2)
    assert answer.status in ("feasible", "optimal")


def test_infeasible_is_a_status(engine: str) -> None:
    """Two mandatory jobs in the room of one are reported, not raised."""
    model = CpoModel(name="tight")
    first, second = (interval_var(start=(0, 1), size=5, name=name) for name in ("first", "second"))
    model.add(md.pulse(first, 1) + md.pulse(second, 1) <= 1)
    model.add(md.maximize(md.overlap_length(first, (0, 3))))
    assert ENGINES[engine].solve(model, time_limit_s=5).status == "infeasible"


def test_starts_are_minimised_by_the_largest_of_lines(engine: str) -> None:
    """Two jobs of 3 s on one machine that is free from 2: starts 2 and 5, and the one whose lines rise less goes last.

    The first costs max(2 s, 9 s - 30), so 4 at 2 and 15 at 5; the second 3 s, so 15 at 5 and 6 at 2: 19 against 21.
    """
    model = CpoModel(name="least")
    first, second = (interval_var(start=(0, 20), size=3, name=name) for name in ("first", "second"))
    model.add(md.sum([md.pulse(first, 1), md.pulse(second, 1), md.pulse((0, 2), 1)]) <= 1)
    start = md.start_of(first)
    model.add(md.minimize(md.sum([md.max([start * 2, start * 9 - 30]), md.start_of(second) * 3])))
    answer = ENGINES[engine].solve(model, time_limit_s=10)
    assert (answer.status, answer.objective) == ("optimal", 19)
    assert [answer.solution.get_var_solution(one).get_start() for one in (first, second)] == [2, 5]


def test_cpsat_refuses_the_start_of_an_interval_that_may_be_absent() -> None:
    """Rather than taking a start that no absent interval has."""
    model = CpoModel(name="absent")
    model.add(md.minimize(md.start_of(interval_var(start=(0, 5), size=1, optional=True, name="one"))))
    with pytest.raises(SolverError, match="starts of mandatory intervals"):
        ENGINES["cpsat"].solve(model, time_limit_s=5)


def test_deadlines_that_cannot_all_be_met_give_a_plan() -> None:
    """Every job has the tightest deadline: as many as possible are met, and the plan is clean."""
    for seed in range(6):
        problem = tiny_problem(seed + 60)
        starts = problem.horizon.start_unix + problem.columns.release_s
        jobs = tuple(
            replace(job, deadline_unix=int(start) + job.requested_s)
            for job, start in zip(problem.jobs, starts, strict=True)
        )
        tight = replace(problem, jobs=jobs)
        result = default_search(tight, time_limit_s=10)
        assert audit(tight, result.plan, leaves_room=result.leaves_room) == []


def test_as_many_deadlines_as_possible_are_met() -> None:
    """On two nodes a wide job or two narrow ones can be in time; in order of submission it would be the wide one."""
    hour = plain_day.HOUR
    wide = plain_day.job("1", 1, units=((2, 4.0),), due_s=hour)
    problem = plain_day.day(wide, *(plain_day.job(name, 1, due_s=hour) for name in "23"), nodes=2)
    result = default_search(problem, time_limit_s=10)
    assert (result.plan.start_s == 0).tolist() == [False, True, True]
    assert result.status == "found"


@pytest.mark.slow
def test_without_time_nothing_is_found_and_a_few_seconds_find_a_plan() -> None:
    """No time, no plan: no job starts, what runs goes on, and the result says so. Some seconds do for a small day."""
    problem = random_problem(np.random.default_rng(3), jobs=10)
    for limit in (0.0, 5.0):
        result = default_search(problem, time_limit_s=limit)
        assert audit(problem, result.plan, leaves_room=result.leaves_room) == []
        assert result.plan.is_placed.any() == (limit > 0)
        assert (result.status == "nothing") == (limit == 0)
        assert result.ledger.profit_eur == settle(problem, result.plan).profit_eur


def test_warm_start_is_the_first_solution(engine: str) -> None:
    """An engine that starts from a plan never answers with less, whatever its time."""
    problem = replace(random_problem(np.random.default_rng(5), jobs=12), defer="free")
    seeded = multisearch(problem)
    model = ProfitModel(problem, Subproblem.whole_day(problem))
    model.start_from(seeded.plan)
    answer = ENGINES[engine].solve(model.cpo, time_limit_s=2, workers=1)
    assert answer.objective is not None
    error = model.objective.scale.error_eur
    assert model.objective.to_eur(answer.objective) >= seeded.ledger.profit_eur - 2 * error


@pytest.mark.parametrize("rule", ["free", "full"])
def test_relaxation_on_parts_never_loses(rule: str) -> None:
    """With neighbourhoods smaller than the day the plan stays clean and never earns less than its seed."""
    problem = replace(random_problem(np.random.default_rng(11), jobs=20), defer=rule)
    seeded = multisearch(problem)
    steps = iter([False] * 6)
    params = RelaxationParams(whole_day=0, part=6, step_s=0.3)
    result = relaxation_search(problem, seeded, stop=lambda best: next(steps, True), params=params)
    assert audit(problem, result.plan) == []
    assert result.ledger.profit_eur >= seeded.ledger.profit_eur


def test_relaxation_keeps_the_nodes_of_multi_unit_jobs() -> None:
    """Whatever moves in time, the nodes of jobs with several units are those of the seed."""
    problem = replace(random_problem(np.random.default_rng(21), jobs=9), defer="free")
    seeded = multisearch(problem)
    result = relaxation_search(problem, seeded, params=RelaxationParams(step_s=0.5), stop=_after(2))
    pointers = problem.columns.unit_ptr
    for job in np.flatnonzero(result.plan.is_placed & seeded.plan.is_placed & (np.diff(pointers) > 1)):
        units = slice(pointers[job], pointers[job + 1])
        assert result.plan.node_of_unit[units].tolist() == seeded.plan.node_of_unit[units].tolist()


def test_relaxation_leaves_overdue_jobs_where_they_are() -> None:
    """They were placed before all others; the day would earn more if they were moved, as it does without that rule.

    Where they may move the engine gets more time if it has found nothing: on a busy machine two seconds may be short.
    """
    for seed in (43, 44, 45):
        problem = replace(random_problem(np.random.default_rng(seed), jobs=7), defer="free")
        for overdue in (frozenset(), frozenset(job.id for job in problem.jobs[::2])):
            day = replace(problem, overdue=overdue)
            seeded = multisearch(day)
            placed = np.flatnonzero(seeded.plan.is_placed[::2]) * 2
            for step_s in (2,) if overdue else (2, 10, 60):
                found = relaxation_search(day, seeded, params=RelaxationParams(step_s=step_s), stop=_after(2))
                stay = np.array_equal(found.plan.start_s[placed], seeded.plan.start_s[placed])
                if not stay:
                    break
            assert stay == bool(overdue)


def test_no_jobs_is_an_empty_plan() -> None:
    """A day without jobs is planned, not refused."""
    problem = replace(tiny_problem(0), jobs=())
    assert not default_search(problem, time_limit_s=1).plan.is_placed.any()
    assert not relaxation_search(problem, multisearch(problem)).plan.is_placed.any()


def _after(steps: int):  # type: ignore[no-untyped-def]
    left = iter([False] * steps)
    return lambda best: next(left, True)


@pytest.mark.parametrize(
    ("answer", "refuses"), [(None, False), (cpo.TooLargeError("too large"), True), (SolverError("it died"), None)]
)
def test_an_executable_is_asked_with_a_model_above_the_limit(
    answer: Exception | None, refuses: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes it is no Community Edition, and one that does not run is neither."""
    asked: list[float] = []

    def search(name: str, model: CpoModel, *settings: object) -> None:
        asked.append(bits(model))
        if answer is not None:
            raise answer

    monkeypatch.setattr(cpo, "_search", search)
    assert cpo.refuses_large.__wrapped__("an executable") is refuses
    assert asked[0] > COMMUNITY_BITS
