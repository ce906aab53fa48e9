"""Claims about the parameters of searches: what a scenario says reaches the method, and silence changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.domain.method_params import DelayParams, HarvestParams, RelaxationParams, SearchParams
from planner.domain.result import never
from planner.errors import ScenarioError
from planner.methods import METHODS, Params, method_named
from planner.places import shipped_folder
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.search.orderings import ORDERINGS
from tests.days import BRIEF, DAY, write_small_site
from tests.plain_day import HOUR, day, job


def sample(*overrides: str) -> Scenario:
    return load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=overrides)


def test_a_scenario_that_says_nothing_has_the_defaults() -> None:
    """The section's defaults are those of the methods."""
    assert sample().search.params() == SearchParams() == Params().search


def test_what_a_scenario_says_is_what_its_methods_get() -> None:
    """Every parameter, in the form of the method."""
    said = {
        "harvest": {"tier_share": 0.5, "rebuilds": False, "meetings": 3, "heat": 1e-5, "largest": 4, "guests": 2},
        "delay": {"step": "30m"},
        "relaxation": {"whole_day": 0, "part": 20, "step": "2s"},
    }
    scenario = sample(f"search={json.dumps(said)}")
    wanted = SearchParams(
        HarvestParams(0.5, rebuilds=False, meetings=3, heat=1e-5, largest=4, guests=2),
        DelayParams(1800),
        RelaxationParams(0, 20, 2.0),
    )
    assert Params().under(scenario).search == wanted


@pytest.mark.parametrize(
    "said",
    ["harvest.tier_share=1.5", "harvest.largest=0", "harvest.guests=101", "harvest.rebuilds=1", "delay.step=1s"],
)
def test_parameters_without_sense_are_refused(said: str) -> None:
    """With the name of the key."""
    with pytest.raises(ScenarioError, match=f"search.{said.partition('=')[0]}"):
        sample(f"search.{said}")


def test_delay_goes_by_its_step() -> None:
    """The best hour is 3:00; with steps of two hours it is 4:00."""
    problem = day(job("a", 1), prices=(0.4, 0.3, 0.5, 0.1, 0.2))
    for step_s, start_s in ((HOUR, 3 * HOUR), (2 * HOUR, 4 * HOUR)):
        params = Params(workers=1, search=SearchParams(delay=DelayParams(step_s)))
        assert method_named("delay")(problem, params, never).plan.start_s.tolist() == [start_s]


def test_relaxation_goes_by_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are handed on as they are."""
    from planner.cp import relaxation

    given: list[Any] = []
    monkeypatch.setattr(relaxation, "relaxation_search", lambda *_, **named: given.append(named["params"]))
    wanted = RelaxationParams(7, 5, 3.0)
    method_named("relaxation")(day(job("a", 1)), Params(workers=1, search=SearchParams(relaxation=wanted)), never)
    assert given == [wanted]


def test_harvest_can_be_cut_down_to_multisearch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tiers and without rebuilding, the orderings are all that is tried, and nothing was cut short.

    Else there are a batch of eight tiered orders and the rebuilt plan as well.
    """
    monkeypatch.chdir(write_small_site(tmp_path))
    published = ["--set", "goal.kind=published"]
    alone = [*published, "--set", "search.harvest.tier_share=0", "--set", "search.harvest.rebuilds=false"]
    for more, tried in ((alone, len(ORDERINGS)), (published, len(ORDERINGS) + 9)):
        assert run(["--day", DAY, "--fresh", "-q", "--bound-time", "0", *BRIEF, *more]) == 0
        summary = json.loads((tmp_path / "reports" / "site" / DAY / "summary.json").read_text())
        assert len(summary["trials"]) == tried
        assert not summary["cut_short"]


def test_show_methods_tells_their_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its default and its meaning, under its method; those without any say so."""
    assert run(["show", "params"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "harvest"
    assert lines[1].split()[:3] == ["search.harvest.tier_share", "0.25", "largest"]
    assert "multisearch: no parameters" in lines
    assert run(["show", "params", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == list(METHODS)
    assert found["delay"] == {
        "search.delay.step": {"default": "1h", "unit": "duration", "meaning": "how far a job is pushed at a time"}
    }
