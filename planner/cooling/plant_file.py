"""Finds a cooling plant by name, or reads a site's own from a small YAML file of nameplate values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from planner.cooling.plant import AIR, HYBRID, LOOP_BOUNDS, CoolingLoop, CoolingPlant
from planner.errors import FileFormatError, InputError, ScenarioError
from planner.printable import shortened
from planner.scenario.strict_yaml import read_yaml

PLANTS: dict[str, CoolingPlant] = {plant.name: plant for plant in (AIR, HYBRID)}

LONGEST_NAME = 200
_PLANT_KEYS = ("base", "name", "design_power_w", "water_share", "air", "water")


def load_plant(name_or_path: str | Path, *, design_power_w: float | None = None) -> CoolingPlant:
    """The plant of that name, or the one that a YAML file describes.

    The file names its ``base`` (``air`` or ``hybrid``) and gives what differs: ``name``, ``design_power_w``
    [W], ``water_share``, and under ``air:`` and ``water:`` the values of `CoolingLoop`. ``design_power_w`` is the IT
    power that a plant is built for [W] whose file does not say so itself.
    """
    text, is_sized = str(name_or_path), False
    if text in PLANTS:
        plant = PLANTS[text]
    elif Path(text).suffix.lower() in (".yaml", ".yml"):
        plant, is_sized = _read_plant(Path(text))
    else:
        raise InputError(
            f"unknown cooling plant {text!r}; use {' or '.join(sorted(PLANTS))}, or a .yaml file of nameplate values"
        )
    return plant if design_power_w is None or is_sized else plant.scaled_to(design_power_w)


def _read_plant(path: Path) -> tuple[CoolingPlant, bool]:
    """The plant of a file, and whether it says what IT power it is built for."""
    given = _mapping(path)
    problems = [_unknown(key, _PLANT_KEYS) for key in given if key not in _PLANT_KEYS]
    chosen = given.get("base")
    base = PLANTS.get(chosen) if isinstance(chosen, str) else None
    if base is None:
        raise ScenarioError(path, [*problems, "base is missing; write base: air or base: hybrid"])
    numbers = {key: given[key] for key in ("design_power_w", "water_share") if key in given}
    changes: dict[str, object] = {key: _number(key, value, problems) for key, value in numbers.items()}
    name = given.get("name", path.stem)
    if not isinstance(name, str) or not name.isprintable() or len(name) > LONGEST_NAME:
        problems.append(f"name must be printable text of at most {LONGEST_NAME} characters")
    changes["name"] = name
    for side in ("air", "water"):
        if side in given:
            changes[side] = _loop(side, given[side], getattr(base, side), problems)
    if problems:
        raise ScenarioError(path, problems)
    try:
        return replace(base, **changes), "design_power_w" in given  # type: ignore[arg-type]
    except InputError as error:
        raise ScenarioError(path, [str(error)]) from error


def _loop(side: str, given: object, base: CoolingLoop | None, problems: list[str]) -> CoolingLoop | None:
    """The loop of the base plant with the values of a file; None where there is a problem."""
    if base is None:
        problems.append(f"{side}: the base plant has no such loop; write base: hybrid")
    elif not isinstance(given, Mapping):
        problems.append(f"{side}: must hold nameplate values, such as chiller_cop: 3.0")
    else:
        problems += [f"{side}: {_unknown(str(key), tuple(LOOP_BOUNDS))}" for key in given if key not in LOOP_BOUNDS]
        known = {key: value for key, value in given.items() if key in LOOP_BOUNDS}
        numbers = {key: _number(f"{side}.{key}", value, problems) for key, value in known.items()}
        try:
            return replace(base, **numbers)
        except InputError as error:
            problems.append(f"{side}: {error}")
    return None


def _number(key: str, value: object, problems: list[str]) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300:
        return float(value)
    shown = shortened(str(value), 40) if isinstance(value, str | float | bool) or value is None else "something else"
    problems.append(f"{key} is {shown!r}; it must be a number")
    return 1.0


def _unknown(key: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(key[:100], known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return f"unknown key {shortened(key, 40)!r}; {hint}"


def _mapping(path: Path) -> dict[str, object]:
    content = read_yaml(path).plain()
    if not isinstance(content, dict):
        raise FileFormatError(path, "no nameplate values in it", remedy="write base: air and what differs")
    return content
