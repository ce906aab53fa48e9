"""The tiny site that inputs are mutated in: two days of everything, small enough to plan in a tenth of a second."""

from __future__ import annotations

import json
from pathlib import Path

from tests.days import DAY, small_table

SITE = """\
description: Four nodes of one class and two of another
zone: Europe/Paris
seed: 3
jobs: {source: ../jobs/queue.csv}
cluster:
  power_limit_kw: 2.5
  classes:
    cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}, idle_w: 20}
    gpu: {count: 2, capacity: {cores: 4, memory_gb: 64, gpus: 2}}
weather: {source: constant, temperature_c: 12}
tariff:
  kind: bands
  eur_per_kwh: 0.2
  bands: [{from: "22:00", to: "06:00", eur_per_kwh: 0.1}]
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.05}
rules: {defer: full, max_deferral_days: 2, execute: requested}
demand: {eur_per_kw: 0.5, interval: 15m}
carbon: {eur_per_tonne: 60, g_per_kwh: 300}
"""

JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit,power_w,account,user,name,deadline,revenue_weight
wide,2024-05-31T08:00:00+02:00,6,4,8,16,310.1234567,physics,ann,"relax, ""hot"" 1",,
deep,2024-05-31T08:01:00+02:00,8,1,1,30,45.5,physics,bob,,,1.23456789
long,2024-05-31T08:02:00+02:00,20,2,8,8,150,chem,cy,,,
soon,2024-05-31T08:03:00+02:00,1,1,4,4,40,chem,cy,,2024-12-31T23:00:00+01:00,
free,2024-05-31T08:04:00+02:00,2,1,2,,0,,,,,0
again,2024-05-31T08:06:00+02:00,12,3,8,32,240,bio,dee,,,
tiny,2024-05-31T08:09:00+02:00,0.01,1,1,1,9,bio,dee,,,
giant,2024-05-31T08:10:00+02:00,1,7,8,32,400,bio,dee,,,
"""

UNITS = """\
job_id,submit_unix,requested_s,unit_groups,power_w_per_core,runtime_s,deadline_unix
1,1717140000,3600,2x cores=4 memory_gb=8; 1x cores=2 gpus=1,9.5,3000,
2,1717140060,7200,1x cores=8,8,7200,1717400000
3,1717140120,600,3x cores=1 memory_gb=0.5,11.1,1,
"""

SWF = """\
; Version: 2.2
; Computer: Tiny
; UnixStartTime: 1717100000
; MaxProcs: 32
; TimeZoneString: Europe/Paris
; Note: two users
1 0 5 3600 8 -1 -1 8 7200 1048576 1 1 1 3 1 1 -1 -1
2 600 0 1200 4 -1 -1 4 3600 -1 1 2 1 3 1 1 -1 -1
3 1200 0 0 16 -1 -1 16 600 -1 0 2 1 4 2 1 -1 -1
4 5000 10 40000 32 -1 -1 32 50000 -1 1 1 1 4 2 1 -1 -1
5 5000 10 900 -1 -1 -1 1 -1 -1 5 3 2 5 1 1 -1 -1
6 9000 10 900 2.0 3.5 -1 2 1000 2097152 1 3 2 5 1 1 5 60
"""

CURIE = "; UnixStartTime: 1296571124\n; MaxProcs: 93312\n; TimeZoneString: Europe/Paris\n" + "".join(
    f"{n} {47_700_000 + 5000 * n} 0 {700 * n} {64 * n} -1 -1 {64 * n} {900 * n} -1 1 {n % 3} 1 1 1 1 -1 -1\n"
    for n in range(1, 13)
)
"""A dozen jobs in the days that the study of Curie is about."""

PLANT = """\
base: hybrid
name: our plant
design_power_w: 120000
water_share: 0.6
water:
  free_cooling_full_c: 30
  chiller_cop: 4.0
air:
  chiller_cop: 3.1
"""

FILES = {
    "scenarios/site.yaml": SITE,
    "jobs/queue.csv": JOBS,
    "jobs/units.csv": UNITS,
    "jobs/trace.swf": SWF,
    "tables/small.csv": small_table(),
    "plant.yaml": PLANT,
}


def write_site(folder: Path) -> Path:
    """Write the tiny site; its scenario is the default one."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def hourly(head: str, row: str, days: tuple[str, ...] = ("2024-05-31", DAY, "2024-06-02")) -> str:
    """A CSV with one row per hour of some days; ``row`` is formatted with ``day``, ``hour`` and a number ``k``."""
    rows = [row.format(day=day, hour=hour, k=24 * n + hour) for n, day in enumerate(days) for hour in range(24)]
    return "\n".join([head, *rows]) + "\n"


PRICES = hourly("time,price", "{day}T{hour:02d}:00+02:00,{k}.5")
LOCAL_PRICES = hourly("date,Price (EUR/MWh),country", "{day} {hour:02d}:00,-{k}.25,FR")
CARBON = hourly("Datetime (UTC),Carbon intensity (LCA),Carbon intensity direct", "{day} {hour:02d}:00:00,{k}.1,{k}")
SOLAR = hourly("time,power", "{day}T{hour:02d}:00+02:00,1.{k}")
FORECAST = hourly(
    "time,t_1,t_2,humidity_percent,pressure_hpa", "{day}T{hour:02d}:00+02:00,1{k}e-1,2{k}e-1,{k}.5,985.{k}"
)
WEATHER = hourly(
    "time,temperature_c,ghi_w_per_m2,dhi_w_per_m2,wind_m_per_s", "{day}T{hour:02d}:00+02:00,1{k}e-1,{k},0,1.5"
)


def open_meteo() -> dict[str, object]:
    """An answer of the Open-Meteo API about three days."""
    times = [f"{day}T{hour:02d}:00" for day in ("2024-05-31", DAY, "2024-06-02") for hour in range(24)]
    return {
        "latitude": 45.7,
        "longitude": 4.9,
        "elevation": 198.0,
        "utc_offset_seconds": 7200,
        "timezone": "Europe/Paris",
        "hourly_units": {"time": "iso8601", "temperature_2m": "°C", "shortwave_radiation": "W/m²"},
        "hourly": {
            "time": times,
            "temperature_2m": [10.0 + k % 24 / 2 for k in range(len(times))],
            "shortwave_radiation": [float(max(0, 300 - 40 * abs(k % 24 - 12))) for k in range(len(times))],
            "wind_speed_10m": [None if k == 3 else 5.0 for k in range(len(times))],
        },
    }


OPEN_METEO = json.dumps(open_meteo(), ensure_ascii=False)

_EPW_HEAD = """\
LOCATION,Lyon Bron AP,AR,FRA,ISD-TMYx,074800,45.72610,4.93780,1.0,198.0
DESIGN CONDITIONS,0
TYPICAL/EXTREME PERIODS,0
GROUND TEMPERATURES,0
HOLIDAYS/DAYLIGHT SAVINGS,No,0,0,0
COMMENTS 1,a
COMMENTS 2,b
DATA PERIODS,1,1,Data,Sunday,1/ 1,12/31
"""
_EPW_ROW = (
    "2004,{month},{day},{hour},60,?9,{k}.0,-2.0,85,99846,0,0,271,{k},0,{k},0,0,0,0,268,3.0,8,8,6750.0,77777,9,"
    "999999999,8,0.0850,0,88,0.200,0.0,0.0\n"
)
_TMY3_HEAD = """\
723170,"GREENSBORO PIEDMONT TRIAD INT",NC,-5.0,36.100,-79.950,273
Date (MM/DD/YYYY),Time (HH:MM),GHI (W/m^2),DNI (W/m^2),DHI (W/m^2),Dry-bulb (C),Wspd (m/s)
"""
_DAYS = ((5, 30), (5, 31), (6, 1), (6, 2), (6, 3))

EPW = _EPW_HEAD + "".join(
    _EPW_ROW.format(month=month, day=day, hour=hour, k=hour) for month, day in _DAYS for hour in range(1, 25)
)
TMY3 = _TMY3_HEAD + "".join(
    f"{month:02d}/{day:02d}/1988,{hour:02d}:00,{hour},0,{hour},1{hour}e-1,2.5\n"
    for month, day in _DAYS
    for hour in range(1, 25)
)
