"""A PUE table: cooling energy per unit of IT energy, by IT power and outside temperature."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.errors import TableError
from planner.units import MILLI

ROWS_OF_A_STEP = 10
"""Rows that a step of power is cut into where cooling is linear between cells."""
_DECIMALS = 6
"""Of temperatures on the grid, so that steps such as 0.1 C add up to what people write."""


@dataclass(frozen=True)
class PueTable:
    """Cooling energy per unit of IT energy on a regular grid.

    Row k is an IT power of ``first_power_w + k * power_step_w`` [W], column m an outside temperature of
    ``first_temperature_c + m * temperature_step_c`` [C]. A power takes the nearest row (halves go up), and so does a
    temperature its column, unless ``is_linear``: then cooling is linear in temperature between columns. Outside the
    grid it is an error unless ``clamp`` is set.
    """

    name: str
    first_power_w: int
    power_step_w: int
    first_temperature_c: float
    temperature_step_c: float
    cooling: npt.NDArray[np.float64]
    clamp: bool = False
    is_linear: bool = False

    def __post_init__(self) -> None:
        if self.cooling.ndim != 2 or not self.cooling.size:
            raise TableError(f"table {self.name}: it has no cells")
        if self.power_step_w < 1 or not self.temperature_step_c > 0 or self.first_power_w < 0:
            raise TableError(f"table {self.name}: its steps of power and temperature must be positive")
        rows, columns = self.cooling.shape
        for what, value, within in (
            ("number of rows", rows, limits.TABLE_ROWS),
            ("highest power", self.first_power_w + self.power_step_w * (rows - 1), limits.TABLE_W),
            ("lowest temperature", self.first_temperature_c, limits.TABLE_C),
            ("highest temperature", self.first_temperature_c + self.temperature_step_c * (columns - 1), limits.TABLE_C),
        ):
            if value not in within:
                raise TableError(f"table {self.name}: its {what} is {value}; it must be {within}")
        if not np.all((self.cooling >= 0) & (self.cooling <= limits.TABLE_COOLING.high)):
            raise TableError(f"table {self.name}: every cell must be a number {limits.TABLE_COOLING}, PUE less 1")
        self.cooling.setflags(write=False)

    def stretched(self, power_w: float) -> PueTable:
        """The same plant for a machine of another size: the last row is that of at least this power [W]."""
        step_w = max(1, math.ceil(power_w / max(1, len(self.cooling) - 1)))
        return replace(self, first_power_w=0, power_step_w=step_w, clamp=True)

    @property
    def powers_w(self) -> npt.NDArray[np.int64]:
        """IT power of each row [W]."""
        return self.first_power_w + self.power_step_w * np.arange(len(self.cooling), dtype=np.int64)

    @property
    def temperatures_c(self) -> npt.NDArray[np.float64]:
        """Outside temperature of each column [C]."""
        return np.round(
            self.first_temperature_c + self.temperature_step_c * np.arange(self.cooling.shape[1]), _DECIMALS
        )

    def linear(self) -> PueTable:
        """The same table with cooling that is linear between its cells.

        In temperature it is so exactly. In power each step is cut into ten rows on the straight line between its
        ends, so that whoever uses the table sees no more than one with finer rows.
        """
        if self.power_step_w % ROWS_OF_A_STEP:
            raise TableError(
                f"table {self.name}: its power step of {self.power_step_w} W cannot be cut into {ROWS_OF_A_STEP} whole"
                f" parts, which cooling.lookup: linear needs; use a multiple of {ROWS_OF_A_STEP} W"
            )
        steps = len(self.cooling) - 1
        limits.TABLE_ROWS.require(
            f"table {self.name}: the number of rows with cooling.lookup: linear, which needs no small steps of power,",
            ROWS_OF_A_STEP * steps + 1,
        )
        share = np.arange(ROWS_OF_A_STEP)[None, :, None] / ROWS_OF_A_STEP
        low, high = self.cooling[:-1, None, :], self.cooling[1:, None, :]
        between = (low * (1 - share) + high * share).reshape(ROWS_OF_A_STEP * steps, self.cooling.shape[1])
        return replace(
            self,
            power_step_w=self.power_step_w // ROWS_OF_A_STEP,
            cooling=np.concatenate([between, self.cooling[-1:]]),
            is_linear=True,
        )

    def segment_temperature(self, temperature_c: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What a segment keeps of a temperature [C]: the table's step that it belongs to, on or beyond the grid.

        Where cooling is linear it is the temperature itself, and so it is where the table cannot tell its cooling.
        """
        if self.is_linear:
            return temperature_c
        place = self._places(temperature_c)
        stepped = np.round(place * self.temperature_step_c + self.first_temperature_c, _DECIMALS) + 0.0
        return stepped if self.clamp else np.where(self._is_beyond(place), temperature_c, stepped)

    def rows(self, energy_mws: npt.NDArray[np.int64], length_s: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Row of the mean power of an IT energy [mW s] over a length of time [s], in whole numbers."""
        step = self.power_step_w * MILLI
        offset = energy_mws - self.first_power_w * MILLI * length_s
        return (2 * offset + step * length_s) // (2 * step * length_s)

    def cells(self, rows: npt.NDArray[np.int64], temperature_c: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Cooling energy per unit of IT energy at rows and temperatures of segments, of their broadcast shape.

        Beyond the table its first and last rows and columns hold.
        """
        row_count, column_count = self.cooling.shape
        rows = np.clip(rows, 0, row_count - 1)
        place = np.clip(self._places(temperature_c), 0, column_count - 1)
        left = np.floor(place).astype(np.int64)
        cells: npt.NDArray[np.float64] = self.cooling[rows, left]
        if not self.is_linear:
            return cells
        share = place - left
        right: npt.NDArray[np.float64] = self.cooling[rows, np.minimum(left + 1, column_count - 1)]
        return cells * (1 - share) + right * share

    def look_up(self, rows: npt.NDArray[np.int64], temperature_c: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The same at one row for each temperature; TableError outside a table that does not clamp."""
        outside = (rows < 0) | (rows >= len(self.cooling)) | self._is_beyond(self._places(temperature_c))
        if not self.clamp and bool(np.any(outside)):
            worst = int(np.flatnonzero(outside)[0])
            power_w = self.first_power_w + int(rows[worst]) * self.power_step_w
            raise TableError(
                f"table {self.name} covers {self.powers_w[0]} to {self.powers_w[-1]} W and"
                f" {self.temperatures_c[0]:g} to {self.temperatures_c[-1]:g} C, but the day needs {power_w} W at"
                f" {temperature_c[worst]:g} C; build a larger table (`plan table build`)"
                " or let it clamp"
            )
        return self.cells(rows, temperature_c)

    def _places(self, temperature_c: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Places of temperatures among the columns: whole numbers, unless cooling is linear."""
        place = (temperature_c - self.first_temperature_c) / self.temperature_step_c
        places: npt.NDArray[np.float64] = place if self.is_linear else np.floor(place + 0.5)
        return places

    def _is_beyond(self, place: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Whether places lie outside the columns."""
        beyond: npt.NDArray[np.bool_] = (place < 0) | (place > self.cooling.shape[1] - 1)
        return beyond
