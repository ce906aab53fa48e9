"""Nameplate data of a cooling plant, and the two plants that ship with the planner."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from planner.errors import InputError

RATED_OUTSIDE_C = 35.0
"""Outside air at which an air-cooled chiller is rated [C] (EN 14511, AHRI 550/590)."""


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
        for name in ("circulation_fixed_fraction", "circulation_load_fraction", "rejection_fan_fraction"):
            _check(name, getattr(self, name), 0.0, 1.0)
        _check("smallest_stage_fraction", self.smallest_stage_fraction, 0.01, 1.0)
        _check("free_cooling_full_c", self.free_cooling_full_c, -50.0, 60.0)
        _check("free_cooling_limit_c", self.free_cooling_limit_c, -50.0, 80.0)
        _check("chiller_cop", self.chiller_cop, 0.5, 20.0)
        _check("chiller_cop_gain_per_k", self.chiller_cop_gain_per_k, 0.0, 0.06)
        _check("chiller_coldest_c", self.chiller_coldest_c, -50.0, RATED_OUTSIDE_C)
        _check("chiller_part_load_loss", self.chiller_part_load_loss, 0.0, 0.9)
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
        _check("design_power_w", self.design_power_w, 1.0, 1e10)
        if self.water is None and self.water_share:
            raise InputError(f"water_share is {self.water_share}, but plant {self.name!r} has no water loop")
        if self.water is not None:
            _check("water_share", self.water_share, 0.01, 0.99)

    @property
    def loops(self) -> tuple[tuple[float, CoolingLoop], ...]:
        """Each loop with its share of the heat."""
        if self.water is None:
            return ((1.0, self.air),)
        return ((self.water_share, self.water), (1.0 - self.water_share, self.air))

    def scaled_to(self, design_power_w: float) -> CoolingPlant:
        """The same nameplate for another size of machine."""
        return replace(self, design_power_w=float(design_power_w))


def loop_fields() -> tuple[str, ...]:
    """Names of a loop's nameplate values."""
    return tuple(field.name for field in fields(CoolingLoop))


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} is {value}; it must be between {low:g} and {high:g}")


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
