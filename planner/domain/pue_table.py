"""A PUE table: cooling energy per unit of IT energy, by IT power and outside temperature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner import bounds
from planner.errors import TableError
from planner.units import MILLI


@dataclass(frozen=True)
class PueTable:
    """Cooling energy per unit of IT energy on a regular grid.

    Row k is an IT power of ``first_power_w + k * power_step_w`` [W], column m an outside temperature of
    ``first_temperature_c + m * temperature_step_c`` [C]. A power or temperature takes the nearest row or
    column (halves go up). Outside the grid it is an error unless ``clamp`` is set.
    """

    name: str
    first_power_w: int
    power_step_w: int
    first_temperature_c: int
    temperature_step_c: int
    cooling: npt.NDArray[np.float64]
    clamp: bool = False

    def __post_init__(self) -> None:
        if self.cooling.ndim != 2 or not self.cooling.size:
            raise TableError(f"table {self.name}: it has no cells")
        if self.power_step_w < 1 or self.temperature_step_c < 1 or self.first_power_w < 0:
            raise TableError(f"table {self.name}: its steps of power and temperature must be positive")
        rows, columns = self.cooling.shape
        for what, value, limits in (
            ("number of rows", rows, bounds.TABLE_ROWS),
            ("highest power", self.first_power_w + self.power_step_w * (rows - 1), bounds.TABLE_W),
            ("lowest temperature", self.first_temperature_c, bounds.TABLE_C),
            ("highest temperature", self.first_temperature_c + self.temperature_step_c * (columns - 1), bounds.TABLE_C),
        ):
            if value not in limits:
                raise TableError(f"table {self.name}: its {what} is {value}; it must be {limits}")
        if not np.all((self.cooling >= 0) & (self.cooling <= bounds.TABLE_COOLING.high)):
            raise TableError(f"table {self.name}: every cell must be a number {bounds.TABLE_COOLING}, PUE less 1")
        self.cooling.setflags(write=False)

    @property
    def powers_w(self) -> npt.NDArray[np.int64]:
        """IT power of each row [W]."""
        return self.first_power_w + self.power_step_w * np.arange(len(self.cooling), dtype=np.int64)

    @property
    def temperatures_c(self) -> npt.NDArray[np.int64]:
        """Outside temperature of each column [C]."""
        return self.first_temperature_c + self.temperature_step_c * np.arange(self.cooling.shape[1], dtype=np.int64)

    def temperature_step(self, temperature_c: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The table's step that each temperature belongs to [C], on or beyond the grid."""
        step = self.temperature_step_c
        return (
            np.floor((temperature_c - self.first_temperature_c) / step + 0.5).astype(np.int64) * step
            + self.first_temperature_c
        )

    def rows(self, energy_mws: npt.NDArray[np.int64], length_s: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Row of the mean power of an IT energy [mW s] over a length of time [s], in whole numbers."""
        step = self.power_step_w * MILLI
        offset = energy_mws - self.first_power_w * MILLI * length_s
        return (2 * offset + step * length_s) // (2 * step * length_s)

    def look_up(
        self, rows: npt.NDArray[np.int64], temperature_steps_c: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Cooling energy per unit of IT energy at table rows and temperature steps."""
        columns = (temperature_steps_c - self.first_temperature_c) // self.temperature_step_c
        row_count, column_count = self.cooling.shape
        outside = (rows < 0) | (rows >= row_count) | (columns < 0) | (columns >= column_count)
        if not self.clamp and bool(np.any(outside)):
            worst = int(np.flatnonzero(outside)[0])
            power_w = self.first_power_w + int(rows[worst]) * self.power_step_w
            raise TableError(
                f"table {self.name} covers {self.powers_w[0]} to {self.powers_w[-1]} W and"
                f" {self.temperatures_c[0]} to {self.temperatures_c[-1]} C, but the day needs {power_w} W at"
                f" {int(temperature_steps_c[worst])} C; build a larger table (`plan table build`)"
                " or let it clamp"
            )
        cells: npt.NDArray[np.float64] = self.cooling[
            np.clip(rows, 0, row_count - 1), np.clip(columns, 0, column_count - 1)
        ]
        return cells
