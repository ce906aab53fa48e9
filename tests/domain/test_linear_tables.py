"""Claims about PUE tables that are linear between their cells, and about tables with any step of temperature."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from planner.cooling.plant import AIR, build_table, cooling_fraction, temperatures_between
from planner.domain.horizon import Horizon
from planner.domain.pue_table import PueTable
from planner.domain.segment import StepSeries, cut_segments
from planner.errors import InputError, TableError
from planner.inputs.pue_csv import pue_table_text, read_pue_table

COARSE = PueTable("coarse", 0, 1000, -3, 2.5, np.array([[0.1, 0.2, 0.6], [0.3, 0.4, 1.0]]))
DAY = Horizon(dt.date(2024, 6, 1), "UTC")


def test_cells_on_the_grid_stay_and_others_lie_between() -> None:
    """Corners are cells; the middle of four cells is their mean; a tenth of the way is a tenth of the difference."""
    table = COARSE.linear()
    assert (table.power_step_w, len(table.cooling)) == (100, 11)
    assert table.look_up(np.array([0, 10, 10]), np.array([-3.0, -3.0, 2.0])).tolist() == [0.1, 0.3, 1.0]
    # half way between 0 and 1000 W, half way between -3 and -0.5 C: the mean of 0.1, 0.2, 0.3 and 0.4
    assert table.look_up(np.array([5]), np.array([-1.75])) == pytest.approx([0.25])
    # 100 W is a tenth of the way, 1.75 C nine tenths between -0.5 and 2: 0.1 * 0.2 + 0.9 * 0.6 = 0.56 and 0.94
    assert table.look_up(np.array([1]), np.array([1.75])) == pytest.approx([0.9 * 0.56 + 0.1 * 0.94])


def test_a_linear_table_ends_at_its_last_column() -> None:
    """A step table takes temperatures up to half a step beyond its columns; straight lines end there."""
    warm_c = np.array([2.1])
    rows = np.array([0])
    assert COARSE.look_up(rows, COARSE.segment_temperature(warm_c)).tolist() == [0.6]
    with pytest.raises(TableError, match=r"0 to 1000 W and -3 to 2 C, but the day needs 0 W at 2\.1 C"):
        COARSE.linear().look_up(rows, warm_c)
    assert COARSE.linear().cells(rows, warm_c).tolist() == [0.6]


def test_steps_of_any_width_take_the_nearest_column() -> None:
    """Columns -3, -0.5 and 2 C: halves go up, -1.75 C to -0.5 C."""
    assert COARSE.segment_temperature(np.array([-1.76, -1.75, 0.74, 0.75])).tolist() == [-3.0, -0.5, -0.5, 2.0]


def test_the_day_is_cut_where_the_temperature_changes() -> None:
    """10.0, 10.4 and 12 C: one segment for the first two by steps of 5 C, and three where cooling is linear."""
    edges = DAY.start_unix + np.array([0, 3600, 7200, DAY.length_s])
    outside = StepSeries("temperature", edges, np.array([10.0, 10.4, 13.0]))
    price = StepSeries.constant("price", 0.1, DAY.start_unix, DAY.end_unix)
    table = PueTable("five", 0, 500, 0, 5, np.full((3, 6), 0.2))
    stepped = cut_segments(DAY, table, outside, price)
    linear = cut_segments(DAY, table.linear(), outside, price)
    assert [(one.end_s, one.temperature_c) for one in stepped] == [(7200, 10.0), (86400, 15.0)]
    assert [(one.end_s, one.temperature_c) for one in linear] == [(3600, 10.0), (7200, 10.4), (86400, 13.0)]


def test_steps_of_power_that_have_no_tenth() -> None:
    """505 W have no whole tenth, and 50,000 rows of ten are too many: each says so."""
    with pytest.raises(TableError, match="power step of 505 W cannot be cut into 10 whole parts"):
        PueTable("odd", 0, 505, 0, 5, np.full((3, 6), 0.2)).linear()
    with pytest.raises(InputError, match=r"table long: the number of rows with cooling.lookup: linear"):
        PueTable("long", 0, 10, 0, 5, np.full((6000, 2), 0.2)).linear()


@pytest.mark.parametrize(("first", "last", "step"), [(-20, 45, 5), (-30, 40, 1), (-7.5, 30, 2.5), (0, 3, 0.1)])
def test_built_tables_of_any_step_read_back_equal(tmp_path: Path, first: float, last: float, step: float) -> None:
    """Each cell is the plant at the temperature that the header says, to the four decimals of the file."""
    table = build_table(
        AIR,
        name="mine",
        max_power_w=20_000,
        power_step_w=2000,
        temperatures=temperatures_between(first, last, step),
    )
    (tmp_path / "mine.csv").write_text(pue_table_text(table))
    again, _ = read_pue_table(tmp_path / "mine.csv")
    np.testing.assert_array_equal(again.cooling, table.cooling)
    header = (tmp_path / "mine.csv").read_text().splitlines()[2].split(",")[1:]
    written_c = np.array([float(cell) for cell in header])
    assert (written_c[0], written_c[-1]) == (first, last)
    np.testing.assert_array_equal(again.temperatures_c, written_c)
    np.testing.assert_allclose(again.cooling, cooling_fraction(again.powers_w[:, None], written_c, AIR), atol=5.1e-5)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((10, 10, 5), "the last must be warmer"),
        ((0, 40, 0.0005), "step of temperatures is 0.0005"),
        ((0, 300, 5), "last temperature is 300"),
        ((-20, 45, 0.1), "number of temperatures is 651"),
        ((0, 1, 0.3333333), "at most 3 decimals"),
        ((0, 40, float("nan")), "step of temperatures is nan"),
    ],
)
def test_temperatures_that_make_no_columns(asked: tuple[float, float, float], message: str) -> None:
    """One line that says what is wrong."""
    with pytest.raises((InputError, TableError), match=message):
        temperatures_between(*asked)
