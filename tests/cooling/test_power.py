"""The cooling model: published figures as witnesses, and the shape that physics demands."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from planner.cooling.plant import AIR, HYBRID, CoolingPlant, build_table, cooling_fraction, cooling_power
from planner.errors import TableError
from planner.inputs.pue_csv import read_pue_table
from planner.places import shipped_folder

PLANTS = pytest.mark.parametrize("plant", [AIR, HYBRID], ids=["air", "hybrid"])
LOADS_W = np.arange(500.0, 150_001.0, 500.0)
OUTSIDE_C = np.arange(-20.0, 46.0, 1.0)
STUDY_W = 88_000


def kink_c(load: float) -> float:
    """Outside temperature above which the air plant's chiller runs at a load, by the jump in slope."""
    outside_c = np.arange(-10.0, 25.0, 0.1)
    slope = np.diff(cooling_fraction(load * AIR.design_power_w, outside_c, AIR))
    return float(outside_c[np.argmax(slope > 0.001)])


@PLANTS
def test_shipped_tables_are_what_the_model_builds(plant: CoolingPlant) -> None:
    """tables/air.csv and tables/hybrid.csv hold the model's cells, and do not clamp."""
    shipped, _ = read_pue_table(shipped_folder() / "tables" / f"{plant.name}.csv")
    built = build_table(plant, name=plant.name, max_power_w=150_000)
    np.testing.assert_array_equal(shipped.cooling, built.cooling)
    assert (shipped.name, shipped.clamp) == (plant.name, False)
    np.testing.assert_array_equal(shipped.powers_w, np.arange(0, 150_001, 500))
    np.testing.assert_array_equal(shipped.temperatures_c, np.arange(-20, 46, 5))


@pytest.mark.parametrize(
    ("plant", "winter", "summer"), [(AIR, 0.11, 0.43), (HYBRID, 0.00, 0.09)], ids=["air", "hybrid"]
)
def test_published_pue_in_lyon(plant: CoolingPlant, winter: float, summer: float) -> None:
    """The study's machine at 88 kW: a PUE of 1.11 and 1.43 with air, 1.00 and 1.09 hybrid, January and July."""
    months, outside_c = lyon()
    table = build_table(plant, name=plant.name, max_power_w=150_000)
    for month, published in ((1, winter), (7, summer)):
        steps_c = table.segment_temperature(outside_c[months == month])
        rows = np.full(len(steps_c), STUDY_W // 500)
        assert table.look_up(rows, steps_c).mean() == pytest.approx(published, abs=0.01)


def lyon() -> tuple[np.ndarray, np.ndarray]:
    folder = Path(os.environ.get("PLANNER_DATA", Path(__file__).parents[2] / "../shared/data"))
    files = sorted(folder.glob("weather/FRA_AR_Lyon*.epw.gz"))
    if not files:
        pytest.skip("no weather of Lyon; set PLANNER_DATA to the folder of reference data")
    with gzip.open(files[0], "rt") as stream:
        rows = [line.split(",") for line in stream.readlines()[8:]]
    return np.array([int(row[1]) for row in rows]), np.array([float(row[6]) for row in rows])


def test_published_range_of_air() -> None:
    """Air-cooled sites add roughly 10 to 40 %: near the nominal load, from frost to a mild summer day."""
    overhead = cooling_fraction([[75_000.0], [88_000.0], [107_000.0]], [-5.0, 5.0, 15.0, 20.0], AIR)
    assert overhead.min() == pytest.approx(0.10, abs=0.015)
    assert overhead.max() == pytest.approx(0.40, abs=0.06)


def test_published_range_of_hybrid() -> None:
    """Hybrid sites add roughly 0 to 13 %, up to the hottest hours that the shipped table knows."""
    overhead = cooling_fraction([[75_000.0], [88_000.0], [107_000.0]], np.arange(-10.0, 41.0, 5.0), HYBRID)
    assert overhead.min() < 0.005
    assert 0.11 < overhead.max() < 0.135


def test_eurora_free_cooling_at_freezing_for_any_load() -> None:
    """At 0 C the chiller stands still at every load: overhead stays at that of fans and pumps."""
    cold, freezing = (cooling_fraction(LOADS_W, outside_c, AIR) for outside_c in (-20.0, 0.0))
    assert np.all(freezing - cold < 0.02)


def test_eurora_kink_depends_on_load() -> None:
    """The chiller starts between 0 and 20 C, and the sooner the higher the load."""
    kinks = [kink_c(load) for load in (1.0, 0.75, 0.5, 0.25)]
    assert kinks == sorted(kinks)
    assert 0 < kinks[0] < kinks[-1] - 5
    assert kinks[-1] < 20


def test_eurora_no_free_cooling_above_25() -> None:
    """Above 25 C the chiller carries all the heat, as worked out by hand for 88 kW at 35 C."""
    # With no free cooling the chiller moves the heat and the circulation's heat: at 88 kW, x = 0.587,
    # C = 150000 (0.04 + 0.06 x^3) = 7817 W, Q = 95817 W, COP = 2.85 * 1.0 * (1 - 0.15 (1 - 0.639)) = 2.696 at 35 C,
    # so P = 7817 + 0.02 * 95817 + 95817 / 2.696 = 45274 W, a fraction of 0.5145.
    assert cooling_fraction(88_000.0, 35.0, AIR) == pytest.approx(0.5145, abs=2e-4)


@PLANTS
def test_warmer_is_never_cheaper(plant: CoolingPlant) -> None:
    """At any load, cooling power does not fall as the outside air warms."""
    power = cooling_power(LOADS_W[:, None], OUTSIDE_C, plant)
    assert np.all(np.diff(power, axis=1) >= -1e-9)


@PLANTS
def test_more_load_takes_more_cooling(plant: CoolingPlant) -> None:
    """At any temperature, cooling power rises with IT power."""
    power = cooling_power(LOADS_W[:, None], OUTSIDE_C, plant)
    assert np.all(np.diff(power, axis=0) > 0)


@PLANTS
def test_no_load_is_finite(plant: CoolingPlant) -> None:
    """The row of 0 W is the limit towards no load: finite, and near that of the first watts."""
    at_zero = cooling_fraction(0.0, OUTSIDE_C, plant)
    assert np.all(at_zero < 0.8)
    np.testing.assert_allclose(at_zero, cooling_fraction(10.0, OUTSIDE_C, plant), atol=1e-3)


@PLANTS
def test_nameplate_scales(plant: CoolingPlant) -> None:
    """A plant of ten times the size has the same overhead at ten times the power."""
    np.testing.assert_allclose(
        cooling_fraction(LOADS_W[:, None], OUTSIDE_C, plant),
        cooling_fraction(10 * LOADS_W[:, None], OUTSIDE_C, plant.scaled_to(10 * plant.design_power_w)),
        rtol=1e-9,
    )


def test_air_is_near_the_public_fit_while_free_cooling_lasts() -> None:
    """Xu, Feng and Li (2013) fit a partial PUE of 7.1705e-5 T^2 + 0.0041 T + 1.0743; up to 10 C ours is near."""
    outside_c = np.arange(0.0, 11.0)
    fit = 7.1705e-5 * outside_c**2 + 0.0041 * outside_c + 0.0743
    assert np.abs(cooling_fraction(float(STUDY_W), outside_c, AIR) - fit).max() < 0.04


def test_a_table_larger_than_its_plant_is_refused() -> None:
    """A table may not go beyond what the plant is built for; the message says what to raise."""
    with pytest.raises(TableError, match="raise design_power_w"):
        build_table(AIR, name="big", max_power_w=200_000)
