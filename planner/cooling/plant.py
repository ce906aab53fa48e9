"""Cooling plants: two that ship with the planner, or from a YAML file; what they draw, and PUE tables of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.domain.pue_table import PueTable
from planner.errors import FileFormatError, InputError, ScenarioError, TableError
from planner.limits import FRACTION, TABLE_C, TABLE_COLUMNS, TABLE_ROWS, TABLE_STEP_C, Bounds
from planner.printable import shortened
from planner.scenario.strict_yaml import read_yaml
from planner.units import MILLI

RATED_OUTSIDE_C = 35.0
"""Outside air at which an air-cooled chiller is rated [C] (EN 14511, AHRI 550/590)."""


LOOP_BOUNDS = {
    "circulation_fixed_fraction": FRACTION,
    "circulation_load_fraction": FRACTION,
    "smallest_stage_fraction": Bounds(0.01, 1),
    "rejection_fan_fraction": FRACTION,
    "free_cooling_full_c": Bounds(-50, 60, "C"),
    "free_cooling_limit_c": Bounds(-50, 80, "C"),
    "chiller_cop": Bounds(0.5, 20),
    "chiller_cop_gain_per_k": Bounds(0, 0.06),
    "chiller_coldest_c": Bounds(-50, RATED_OUTSIDE_C, "C"),
    "chiller_part_load_loss": Bounds(0, 0.9),
}
"""What each nameplate value of a loop may be."""
DESIGN_POWER_W = Bounds(1, 1e10, "W")
WATER_SHARE = Bounds(0.01, 0.99)


@dataclass(frozen=True)
class CoolingLoop:
    """One way out for the heat: circulation indoors, free cooling outdoors, and a chiller for the rest.

    Powers are fractions of the loop's design heat, so that the same nameplate serves a plant of any size.

    Attributes
    ----------
    circulation_fixed_fraction
        Fans and pumps indoors, the part that runs at any load. [W per W of design heat]
    circulation_load_fraction
        Fans and pumps indoors, the variable-speed part at full load. [W per W of design heat]
    smallest_stage_fraction
        Load below which fixed fans and pumps are switched off in proportion. [fraction of design heat]
    rejection_fan_fraction
        Fans outdoors at full speed. [W per W of heat]
    free_cooling_full_c
        Warmest outside air at which free cooling carries the whole design heat. [C]
    free_cooling_limit_c
        Outside air at which free cooling carries nothing any more. [C]
    chiller_cop
        Heat moved per unit of electricity, at 35 C outside and full load.
    chiller_cop_gain_per_k
        Relative gain in COP per degree that the outside air is colder than 35 C. [1/K]
    chiller_coldest_c
        Outside air below which the COP gains no more (lowest condensing temperature). [C]
    chiller_part_load_loss
        Relative loss of COP as the load goes to zero.
    """

    circulation_fixed_fraction: float
    circulation_load_fraction: float
    smallest_stage_fraction: float
    rejection_fan_fraction: float
    free_cooling_full_c: float
    free_cooling_limit_c: float
    chiller_cop: float
    chiller_cop_gain_per_k: float
    chiller_coldest_c: float
    chiller_part_load_loss: float

    def __post_init__(self) -> None:
        for name, bounds in LOOP_BOUNDS.items():
            bounds.require(name, getattr(self, name))
        if self.free_cooling_limit_c - self.free_cooling_full_c < 1.0:
            raise InputError(
                f"free_cooling_limit_c is {self.free_cooling_limit_c} and free_cooling_full_c is"
                f" {self.free_cooling_full_c}; the limit must be at least 1 C warmer"
            )


@dataclass(frozen=True)
class CoolingPlant:
    """A site's cooling: an air loop, and for hybrid cooling a warm-water loop that takes ``water_share``.

    ``design_power_w`` is the largest IT power that the plant is built for [W].
    """

    name: str
    design_power_w: float
    air: CoolingLoop
    water: CoolingLoop | None = None
    water_share: float = 0.0

    def __post_init__(self) -> None:
        DESIGN_POWER_W.require("design_power_w", self.design_power_w)
        if self.water is None and self.water_share:
            raise InputError(f"water_share is {self.water_share}, but plant {self.name!r} has no water loop")
        if self.water is not None:
            WATER_SHARE.require("water_share", self.water_share)

    @property
    def loops(self) -> tuple[tuple[float, CoolingLoop], ...]:
        """Each loop with its share of the heat."""
        if self.water is None:
            return ((1.0, self.air),)
        return ((self.water_share, self.water), (1.0 - self.water_share, self.air))

    def scaled_to(self, design_power_w: float) -> CoolingPlant:
        """The same nameplate for another size of machine."""
        return replace(self, design_power_w=float(design_power_w))


AIR = CoolingPlant(
    name="air",
    design_power_w=150_000.0,
    air=CoolingLoop(
        circulation_fixed_fraction=0.04,
        circulation_load_fraction=0.06,
        smallest_stage_fraction=0.3,
        rejection_fan_fraction=0.02,
        free_cooling_full_c=2.0,
        free_cooling_limit_c=20.0,
        chiller_cop=2.85,
        chiller_cop_gain_per_k=0.015,
        chiller_coldest_c=15.0,
        chiller_part_load_loss=0.15,
    ),
)
"""Room air handlers, chilled water, an air-cooled chiller with free cooling; see tables/README.md."""

HYBRID = CoolingPlant(
    name="hybrid",
    design_power_w=150_000.0,
    water_share=0.72,
    water=CoolingLoop(
        circulation_fixed_fraction=0.0008,
        circulation_load_fraction=0.002,
        smallest_stage_fraction=0.3,
        rejection_fan_fraction=0.005,
        free_cooling_full_c=40.0,
        free_cooling_limit_c=55.0,
        chiller_cop=4.5,
        chiller_cop_gain_per_k=0.015,
        chiller_coldest_c=15.0,
        chiller_part_load_loss=0.15,
    ),
    air=CoolingLoop(
        circulation_fixed_fraction=0.003,
        circulation_load_fraction=0.006,
        smallest_stage_fraction=0.3,
        rejection_fan_fraction=0.01,
        free_cooling_full_c=6.0,
        free_cooling_limit_c=20.0,
        chiller_cop=2.85,
        chiller_cop_gain_per_k=0.015,
        chiller_coldest_c=15.0,
        chiller_part_load_loss=0.15,
    ),
)
"""Warm-water cold plates on dry coolers, the rest as air through passive rear doors; see tables/README.md."""


SHIPPED_TEMPERATURES_C = range(-20, 50, 5)
"""Columns of the tables that ship with the planner [C]."""

_LEAST_POWER_W = 1.0
"""Below this the fraction is that of this power: the limit towards no load, which is finite."""

_SLOWEST_FAN = 0.2
"""Lowest relative speed of a variable-speed fan."""

Array = npt.NDArray[np.float64]


def cooling_fraction(it_power_w: npt.ArrayLike, temperature_c: npt.ArrayLike, plant: CoolingPlant) -> Array:
    """Cooling energy per unit of IT energy, PUE less 1 as far as cooling goes; at no load the limit from above."""
    power_w = np.maximum(np.asarray(it_power_w, dtype=np.float64), _LEAST_POWER_W)
    fraction: Array = cooling_power(power_w, temperature_c, plant) / power_w
    return fraction


def cooling_power(it_power_w: npt.ArrayLike, temperature_c: npt.ArrayLike, plant: CoolingPlant) -> Array:
    r"""Electric power of the whole cooling plant.

    .. math:: P_c(P, T) = \sum_l P_l(s_l P, T)

    where loop l takes the share :math:`s_l` of the heat, which is all of the computers' power [W]; T is the outside
    dry-bulb temperature [C].
    """
    power_w = np.asarray(it_power_w, dtype=np.float64)
    outside_c = np.asarray(temperature_c, dtype=np.float64)
    total: Array = np.zeros(np.broadcast_shapes(power_w.shape, outside_c.shape))
    for share, loop in plant.loops:
        total = total + loop_power(share * power_w, outside_c, loop, share * plant.design_power_w)
    return total


def loop_power(heat_w: Array, temperature_c: Array, loop: CoolingLoop, design_heat_w: float) -> Array:
    r"""Electric power of the fans, pumps and chiller of one loop, of the heat H of a design heat :math:`Q_d` [W].

    .. math::
        C &= Q_d \, (f \min(1, x / x_s) + v x^3), \quad x = H / Q_d \\
        Q &= H + C \\
        Q_f &= Q_d \, \max(0, T_l - T) / (T_l - T_f) \\
        P &= C + r Q u^3 + M / \mathrm{COP}, \quad M = \max(0, Q - Q_f), \quad u = \min(1, Q / Q_f)

    with C the circulation indoors (fixed part f, staged below :math:`x_s`; variable-speed part v, whose cube is
    the affinity law of fans and pumps), Q the heat to reject, :math:`Q_f` what free cooling can carry (a heat
    exchanger: proportional to the temperature difference), r the fans outdoors at relative speed u, and M what
    is left to the chiller; its COP is that of `chiller_cop`.

    Notes
    -----
    Affinity laws and water-side economizers: ASHRAE Handbook, HVAC Systems and Equipment, the chapters on fans,
    pumps and on liquid coolers.
    """
    load = heat_w / design_heat_w
    fixed = loop.circulation_fixed_fraction * np.minimum(1.0, load / loop.smallest_stage_fraction)
    circulation_w = design_heat_w * (fixed + loop.circulation_load_fraction * load**3)
    rejected_w = heat_w + circulation_w
    reach_k = loop.free_cooling_limit_c - loop.free_cooling_full_c
    free_w = design_heat_w * np.maximum(0.0, loop.free_cooling_limit_c - temperature_c) / reach_k
    speed = np.clip(rejected_w / np.maximum(free_w, 1e-9), _SLOWEST_FAN, 1.0)
    mechanical_w = np.maximum(0.0, rejected_w - free_w)
    cop = chiller_cop(mechanical_w / design_heat_w, temperature_c, loop)
    power_w: Array = circulation_w + loop.rejection_fan_fraction * rejected_w * speed**3 + mechanical_w / cop
    return power_w


def chiller_cop(part_load: Array, temperature_c: Array, loop: CoolingLoop) -> Array:
    r"""Coefficient of performance of the chiller.

    .. math:: \mathrm{COP} = \mathrm{COP}_{35} \, (1 + g (35 - \max(T, T_0))) \, (1 - d (1 - \min(1, m)))

    with :math:`\mathrm{COP}_{35}`, the gain g per degree and the part-load loss d of the nameplate, below whose
    :math:`T_0` the COP gains no more, and m the heat that the chiller moves over the loop's design heat.

    Notes
    -----
    The part-load term is the degradation line of AHRI 210/240. It keeps the power, not the COP, increasing in
    load. The temperature term is kept above a fifth of the rated COP.
    """
    outside_c = np.maximum(temperature_c, loop.chiller_coldest_c)
    warmth = np.maximum(0.2, 1.0 + loop.chiller_cop_gain_per_k * (RATED_OUTSIDE_C - outside_c))
    cop: Array = loop.chiller_cop * warmth * (1.0 - loop.chiller_part_load_loss * (1.0 - np.minimum(1.0, part_load)))
    return cop


def temperatures_between(first_c: float, last_c: float, step_c: float) -> list[float]:
    """Temperatures from the first to the last or just beyond it, in even steps [C]."""
    for name, value in (("first", first_c), ("last", last_c)):
        TABLE_C.require(f"the {name} temperature", value)
    TABLE_STEP_C.require("the step of temperatures", step_c)
    if last_c <= first_c:
        raise TableError(
            f"the temperatures go from {first_c:g} to {last_c:g} C; the last must be warmer than the first"
        )
    parts = [round(MILLI * value) for value in (first_c, last_c, step_c)]
    if any(abs(part - MILLI * value) > 1e-6 for part, value in zip(parts, (first_c, last_c, step_c), strict=True)):
        raise TableError(f"{first_c:g} to {last_c:g} C in steps of {step_c:g} C; give at most 3 decimals")
    first, last, step = parts
    count = -(-(last - first) // step) + 1
    TABLE_COLUMNS.require("the number of temperatures", count)
    return [(first + k * step) / MILLI for k in range(count)]


def build_table(
    plant: CoolingPlant,
    *,
    name: str,
    max_power_w: float,
    power_step_w: int = 500,
    temperatures: Sequence[float] = SHIPPED_TEMPERATURES_C,
) -> PueTable:
    """The plant's PUE table, from no load to ``max_power_w`` [W], at evenly spaced temperatures [C].

    Cells are rounded to four decimals, as the CSV holds them.
    """
    if power_step_w < 1 or max_power_w < power_step_w:
        raise TableError(
            f"table {name}: {max_power_w:g} W in steps of {power_step_w} W leaves no rows;"
            " give a larger power or a smaller step"
        )
    if max_power_w > plant.design_power_w:
        raise TableError(
            f"table {name}: {max_power_w:g} W is more than the {plant.design_power_w:g} W that plant"
            f" {plant.name} is built for; raise design_power_w"
        )
    TABLE_ROWS.require(f"table {name}: the number of rows", int(-(-max_power_w // power_step_w)) + 1)
    powers_w = power_step_w * np.arange(int(-(-max_power_w // power_step_w)) + 1, dtype=np.float64)
    cooling = cooling_fraction(powers_w[:, None], np.array(temperatures, dtype=np.float64), plant)
    return PueTable(
        name=name,
        first_power_w=0,
        power_step_w=power_step_w,
        first_temperature_c=temperatures[0],
        temperature_step_c=round(temperatures[1] - temperatures[0], 3),
        cooling=np.round(cooling, 4),
    )


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
