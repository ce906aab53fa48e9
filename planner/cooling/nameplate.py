"""Finds a cooling plant by name, or reads a site's own from a small YAML file of nameplate values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from planner.cooling.plant import AIR, HYBRID, CoolingLoop, CoolingPlant, loop_fields
from planner.errors import FileFormatError, InputError, ScenarioError

PLANTS: dict[str, CoolingPlant] = {plant.name: plant for plant in (AIR, HYBRID)}

_PLANT_KEYS = ("base", "name", "design_power_w", "water_share", "air", "water")


def load_plant(name_or_path: str | Path, *, design_power_w: float | None = None) -> CoolingPlant:
    """The plant of that name, or the one that a YAML file describes.

    The file names its ``base`` (``air`` or ``hybrid``) and gives what differs: ``name``, ``design_power_w``
    [W], ``water_share``, and under ``air:`` and ``water:`` the values of `CoolingLoop`.

    Parameters
    ----------
    name_or_path
        ``air``, ``hybrid``, or a file ending in .yaml or .yml.
    design_power_w
        Largest IT power of the machine [W], in place of the nameplate's.
    """
    text = str(name_or_path)
    if text in PLANTS:
        plant = PLANTS[text]
    elif Path(text).suffix.lower() in (".yaml", ".yml"):
        plant = _read_plant(Path(text))
    else:
        raise InputError(
            f"unknown cooling plant {text!r}; use {' or '.join(sorted(PLANTS))}, or a .yaml file of nameplate values"
        )
    return plant if design_power_w is None else plant.scaled_to(design_power_w)


def _read_plant(path: Path) -> CoolingPlant:
    given = _mapping(path)
    problems = [_unknown(key, _PLANT_KEYS) for key in given if key not in _PLANT_KEYS]
    base = PLANTS.get(str(given.get("base", "")))
    if base is None:
        raise ScenarioError(path, [*problems, "base is missing; write base: air or base: hybrid"])
    numbers = {key: given[key] for key in ("design_power_w", "water_share") if key in given}
    changes: dict[str, object] = {key: _number(key, value, problems) for key, value in numbers.items()}
    changes["name"] = str(given.get("name", path.stem))
    for side in ("air", "water"):
        if side in given:
            changes[side] = _loop(side, given[side], getattr(base, side), problems)
    if problems:
        raise ScenarioError(path, problems)
    try:
        return replace(base, **changes)  # type: ignore[arg-type]
    except InputError as error:
        raise ScenarioError(path, [str(error)]) from error


def _loop(side: str, given: object, base: CoolingLoop | None, problems: list[str]) -> CoolingLoop | None:
    if base is None:
        problems.append(f"{side}: the base plant has no such loop; write base: hybrid")
        return None
    if not isinstance(given, Mapping):
        problems.append(f"{side}: must hold nameplate values, such as chiller_cop: 3.0")
        return base
    problems += [f"{side}: {_unknown(str(key), loop_fields())}" for key in given if key not in loop_fields()]
    known = {key: value for key, value in given.items() if key in loop_fields()}
    numbers = {key: _number(f"{side}.{key}", value, problems) for key, value in known.items()}
    try:
        return replace(base, **numbers)
    except InputError as error:
        problems.append(f"{side}: {error}")
        return base


def _number(key: str, value: object, problems: list[str]) -> float:
    # PyYAML reads 1e6 as text, so text that is a number counts as one.
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    problems.append(f"{key} is {value!r}; it must be a number")
    return 1.0


def _unknown(key: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return f"unknown key {key!r}; {hint}"


def _mapping(path: Path) -> dict[str, object]:
    import yaml

    try:
        node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the name and the folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise FileFormatError(path, f"not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(node, yaml.MappingNode):
        raise FileFormatError(path, "no nameplate values in it", remedy="write base: air and what differs")
    _refuse_repeats(path, node)
    content: dict[str, object] = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    return {str(key): value for key, value in content.items()}


def _refuse_repeats(path: Path, node: object) -> None:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key, value in node.value:
        if key.value in seen:
            raise FileFormatError(
                path, f"key {key.value!r} is given twice", line=key.start_mark.line + 1, remedy="remove one"
            )
        seen.add(key.value)
        _refuse_repeats(path, value)
