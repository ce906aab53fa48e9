"""What a scenario says of ``weather:`` (constant, the sample's typical year, or a file), and ``cooling:`` in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Tag, WithJsonSchema, model_validator

from planner import limits
from planner.scenario.sections import Chooser, FileZone, Key, Section
from planner.scenario.values import Day, InputFile, Members, Within, existing, problem
from planner.scenario.words import CoolingLookup, CoolingTemperature, Season, WeatherFormat

_WORDS = ("sample", "constant")
_FORMATS = [f"`{name}`" for name in get_args(WeatherFormat) if name != "auto"]
_SOURCE = Key(
    "`sample`, `constant` or path",
    "`sample` is the typical year of Greensboro that ships with pvlib",
    default="required",
    example="sample",
)


class Period(Section):
    """A season: the weather of day ``taken`` laid over day ``planned``, following days one by one."""

    planned: Annotated[
        Day,
        Key(
            "date",
            "with `taken`: this day gets the weather of that day, following days one by one",
            default="none",
            example="2024-06-01",
        ),
    ]
    taken: Annotated[Day, Key("date", "day whose weather is used", default="none", example="2024-01-15")]


SeasonOf = Annotated[
    Season | None,
    Key(
        "word",
        "`winter`, `spring`, `summer` or `autumn` over any day: the same day of the month, in the month at the same"
        " place of that season; northern, so summer is June to August",
    ),
]
"""Lays the weather of a season over any day; a period does so for chosen days."""


class ConstantWeather(Section):
    """One temperature all day."""

    source: Annotated[Literal["constant"], _SOURCE]
    temperature_c: Annotated[
        float,
        Within(limits.TEMPERATURE_C),
        Key("°C", "the temperature when `source: constant`, and only then", default="none"),
    ]


class SampleWeather(Section):
    """The typical year that ships with the planner."""

    rivals = ("period", "season")
    source: Annotated[Literal["sample"], _SOURCE]
    period: Period | None = None
    season: SeasonOf = None


class FileWeather(Section):
    """The weather of a file."""

    rivals = ("period", "season")
    source: Annotated[
        Path,
        BeforeValidator(existing(*_WORDS)),
        WithJsonSchema({"type": "string", "not": {"enum": [*_WORDS]}}),
        _SOURCE,
    ]
    format: Annotated[WeatherFormat, Key("word", f"{', '.join(_FORMATS)}; `auto` goes by the file")] = "auto"
    zone: FileZone = None
    latitude_deg: Annotated[
        float | None,
        Within(limits.LATITUDE_DEG),
        Key("degrees", "the site's place, north positive, for photovoltaics; goes before the file's", default="file's"),
    ] = None
    longitude_deg: Annotated[
        float | None, Within(limits.LONGITUDE_DEG), Key("degrees", "the same, east positive", default="file's")
    ] = None
    altitude_m: Annotated[
        float | None,
        Within(limits.ALTITUDE_M),
        Key("m", "height above sea level, for the sun, and for wet bulbs without a pressure", default="file's"),
    ] = None
    members: Annotated[
        Members | None,
        Key(
            "list of columns",
            "members of a forecast: columns of temperatures, or patterns such as `temp_*`; planned on their mean,"
            " and `plan compare --members` says what the plan costs under each",
        ),
    ] = None
    period: Period | None = None
    season: SeasonOf = None

    @model_validator(mode="after")
    def _a_place_has_two_numbers(self) -> FileWeather:
        for given, missing in (("latitude_deg", "longitude_deg"), ("longitude_deg", "latitude_deg")):
            if getattr(self, given) is not None and getattr(self, missing) is None:
                raise problem("missing", f"{given} needs it", at=missing)
        return self


Weather = Annotated[
    Annotated[ConstantWeather, Tag("constant")]
    | Annotated[SampleWeather, Tag("sample")]
    | Annotated[FileWeather, Tag("a file")],
    Discriminator(Chooser("source", _WORDS, otherwise="a file").kind_of),
]


class Cooling(Section):
    """The PUE table of the cooling system."""

    table: Annotated[
        InputFile,
        Key("path", "PUE table, such as `../tables/air.csv` or `../tables/hybrid.csv`", example="../tables/air.csv"),
    ]
    lookup: Annotated[
        CoolingLookup,
        Key("word", "`step`: the nearest cell of the table; `linear`: between cells, in temperature and power"),
    ] = "step"
    temperature: Annotated[
        CoolingTemperature,
        Key(
            "word",
            "`dry-bulb`, or `wet-bulb` for a table of cooling towers: which temperature of the air outside its columns"
            " are; wet-bulb needs humidity in the weather",
        ),
    ] = "dry-bulb"
