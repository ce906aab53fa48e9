"""Pictures of PUE tables."""

import numpy as np
import pytest

from planner.cooling.picture import picture_of
from planner.cooling.plant import AIR, build_table
from planner.domain.pue_table import PueTable

figure = pytest.importorskip("matplotlib.figure")


def test_a_picture_is_a_small_png_and_the_same_each_time() -> None:
    """The picture is a PNG below 150 kB, byte for byte the same when drawn again."""
    table = build_table(AIR, name="air", max_power_w=150_000)
    first = picture_of(table, "png")
    assert first.startswith(b"\x89PNG")
    assert len(first) < 150_000
    assert first == picture_of(table, "png")


@pytest.mark.parametrize("highest", [0.2, 0.4])
def test_curves_and_map_show_the_cells_of_the_table(highest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """21 rows, 10 to 210 kW: curves at 50, 90 ... 210 kW, and seven labelled rows, whole numbers from 30 % on."""
    drawn = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, stream, format, metadata: drawn.append(self))
    cooling = np.linspace(0.0, highest, 63).reshape(21, 3)
    picture_of(PueTable("made", 10_000, 10_000, -10.0, 20.0, cooling), "svg")
    curves, heat_map, _ = drawn[0].axes
    assert drawn[0].get_suptitle() == "Cooling overhead: table made"
    assert [line.get_label() for line in curves.lines] == ["50 kW", "90 kW", "130 kW", "170 kW", "210 kW"]
    for line, row in zip(curves.lines, (4, 8, 12, 16, 20), strict=True):
        assert list(line.get_xdata()) == [-10.0, 10.0, 30.0]
        assert list(line.get_ydata()) == list(1 + cooling[row])
    assert curves.get_ylim()[0] == 1.0
    image = heat_map.images[0]
    assert image.get_extent() == [-20.0, 40.0, 5.0, 215.0]
    assert np.array_equal(image.get_array(), 100 * cooling)
    assert image.get_clim() == (0.0, 100 * highest)
    labels = {text.get_position(): text.get_text() for text in heat_map.texts}
    rows = {10 * row + 10: row for row in (2, 5, 8, 10, 12, 15, 18)}
    assert labels == {
        (temperature_c, power_kw): f"{100 * cooling[row, column]:.{0 if highest > 0.3 else 1}f}"
        for power_kw, row in rows.items()
        for column, temperature_c in enumerate((-10.0, 10.0, 30.0))
    }
    light = [text for text in heat_map.texts if text.get_color() == "white"]
    assert len(light) == sum(cooling[row, column] > 0.6 * highest for row in rows.values() for column in range(3))
