"""Plants by name and from a site's own YAML."""

from dataclasses import replace
from pathlib import Path

import pytest

from planner.cooling.plant import AIR, HYBRID, build_table, load_plant
from planner.errors import InputError


def written(folder: Path, text: str) -> Path:
    path = folder / "site.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_shipped_plants_by_name() -> None:
    """air and hybrid are known by name, and take another design power."""
    assert load_plant("air") == AIR
    assert load_plant("hybrid", design_power_w=400_000) == HYBRID.scaled_to(400_000)


def test_a_file_overrides_its_base(tmp_path: Path) -> None:
    """What the file gives replaces the base's values, the rest stays."""
    path = written(tmp_path, "base: hybrid\ndesign_power_w: 1e6\nwater_share: 0.8\nair:\n  chiller_cop: 3.4\n")
    assert load_plant(path) == replace(
        HYBRID, name="site", design_power_w=1e6, water_share=0.8, air=replace(HYBRID.air, chiller_cop=3.4)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base: air\ndesign_powr_w: 1000\n", "did you mean 'design_power_w'"),
        ("base: air\nair:\n  chiller_cpo: 3\n", "did you mean 'chiller_cop'"),
        ("base: air\nair:\n  chiller_cop: high\n", "air.chiller_cop is 'high'"),
        ("base: air\nair:\n  chiller_cop: 0\n", "chiller_cop is 0"),
        ("base: air\nair:\n  free_cooling_full_c: 30\n", "at least 1 C warmer"),
        ("base: air\nair:\n  free_cooling_full_c: 9.01\n  free_cooling_limit_c: 10\n", "at least 1 C warmer"),
        ("base: air\nwater:\n  chiller_cop: 3\n", "base: hybrid"),
        ("base: air\nwater_share: 0.5\n", "no water loop"),
        ("base: ari\n", "base: air or base: hybrid"),
        ("base: air\nbase: hybrid\n", ":2: key 'base' is given twice"),
        ("base: [air\n", "a list in brackets is not closed"),
        ("", "no nameplate values"),
    ],
)
def test_a_bad_file_says_what_to_change(tmp_path: Path, text: str, message: str) -> None:
    """Every mistake is an InputError that names the file and the remedy."""
    with pytest.raises(InputError) as caught:
        load_plant(written(tmp_path, text))
    assert message in str(caught.value)
    assert "site.yaml" in str(caught.value)


def test_all_problems_at_once(tmp_path: Path) -> None:
    """Two mistakes make two lines."""
    with pytest.raises(InputError) as caught:
        load_plant(written(tmp_path, "base: air\ncolour: red\nair:\n  fan: 3\n"))
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize("name", ["water", "missing.yaml"])
def test_unknown_plants_are_refused(name: str) -> None:
    """A name that is no plant, or a file that is not there, is named."""
    with pytest.raises(InputError, match=name):
        load_plant(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base: [air]\n", "base is missing"),
        ("base: air\nname: [a]\n", "name must be printable text"),
        ("base: air\ndesign_power_w: 2024-13-01\n", "is not a date"),
        ("base: air\ndesign_power_w: {a: 1}\n", "design_power_w is 'something else'; it must be a number"),
        ("base: air\ndesign_power_w: .nan\n", "design_power_w is 'nan'; it must be a number"),
        (f"base: air\ndesign_power_w: 1{'0' * 400}\n", "it must be a number"),
        ("base: air\nair: 5\n", "air: must hold nameplate values"),
        ("base: &a [*a]\n", "an alias refers to what it is part of"),
        ("5: 6\nbase: air\n", "unknown key '5'"),
        ("base: air\nair: {chiller_cop: !!python/name:os.system x}\n", "tag"),
    ],
)
def test_values_of_the_wrong_type(tmp_path: Path, text: str, message: str) -> None:
    """Each is reported in a line of its own."""
    with pytest.raises(InputError) as caught:
        load_plant(written(tmp_path, text))
    assert message in str(caught.value)


def test_a_table_of_endless_rows_is_refused() -> None:
    """Ten gigawatts in steps of a watt are not even begun."""
    with pytest.raises(InputError, match="the number of rows is 10,000,000,001; it must be from 1 to 50,000 rows"):
        build_table(AIR.scaled_to(1e10), name="t", max_power_w=1e10, power_step_w=1)


def test_free_cooling_may_end_one_degree_after_it_begins_to(tmp_path: Path) -> None:
    """The narrowest range that is allowed."""
    plant = load_plant(written(tmp_path, "base: air\nair:\n  free_cooling_full_c: 9\n  free_cooling_limit_c: 10\n"))
    assert (plant.air.free_cooling_full_c, plant.air.free_cooling_limit_c) == (9, 10)
