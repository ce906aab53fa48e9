"""Error of photovoltaics from cloud cover, on weather files that have irradiance as well.

    python benchmarks/cloud_sun.py [WEATHER.epw...]

For the typical year of the sample site (TMY3) and each EPW file: what models make of its sky cover, against its global
horizontal irradiance: the sum of the year, and the mean error of a day and of an hour with the sun up, as parts of the
means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pvlib
from pvlib import clearsky, solarposition

Floats = npt.NDArray[np.float64]
MODELS: Mapping[str, Callable[[Floats], Floats]] = {
    "linear, 35 % under full cover": lambda cloud: 0.35 + 0.65 * (1 - cloud),
    "Kasten and Czeplak, as the planner has it": lambda cloud: 1 - 0.75 * cloud**3.4,
    "linear, nothing under full cover": lambda cloud: 1 - cloud,
}


def measured(name: str, data: pd.DataFrame, place: Mapping[str, float], cover: str, after: float) -> None:
    """Print a line for each model; ``after`` is how far the middle of an hour is from its time [min]."""
    middles = pd.DatetimeIndex(data.index) + pd.Timedelta(minutes=after)
    sun = solarposition.get_solarposition(middles, place["latitude"], place["longitude"])
    clear = clearsky.haurwitz(sun["apparent_zenith"])["ghi"].to_numpy()
    cloud, real = data[cover].to_numpy(dtype=float) / 10, data["ghi"].to_numpy(dtype=float)
    known = (cloud >= 0) & (cloud <= 1) & (real < 9999)
    if not known.any():
        print(f"{name}: no sky cover")
        return
    print(f"{name}: {known.sum():,} hours, {real[known].sum() / 1000:,.0f} kWh/m2")
    for title, model in MODELS.items():
        found = np.where(known, clear * model(np.clip(cloud, 0, 1)), real)
        up = known & (clear > 0)
        by_day = (found - real).reshape(-1, 24).sum(axis=1)
        day = np.abs(by_day).mean() / real.reshape(-1, 24).sum(axis=1).mean()
        hour = np.abs(found - real)[up].mean() / real[up].mean()
        year = found[known].sum() / real[known].sum() - 1
        print(f"  {title}: year {100 * year:+.1f} %, day {100 * day:.0f} %, hour {100 * hour:.0f} %")


def main() -> None:
    """Measure the sample's year and each file."""
    tmy3 = Path(pvlib.__file__).parent / "data" / "723170TYA.CSV"
    data, about = pvlib.iotools.read_tmy3(tmy3, coerce_year=2021, map_variables=True)
    measured("sample, TMY3", data, about, "TotCld" if "TotCld" in data else "TotCld (tenths)", -30.0)
    for path in sys.argv[1:]:
        data, about = pvlib.iotools.read_epw(path)
        measured(str(about["city"]), data, about, "total_sky_cover", 30.0)


if __name__ == "__main__":
    main()
