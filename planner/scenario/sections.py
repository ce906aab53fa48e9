"""What sections of a scenario are made of, and those of one form: power, cooling, revenue, rules and goal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from planner import limits
from planner.domain.job import DeferRule
from planner.domain.problem import ExecuteRule
from planner.domain.rates import UsePrice
from planner.scenario.marked import BLANK, Text
from planner.scenario.values import DrawnBetween, Duration, Flag, InputFile, JsonSchema, Name, Whole, Within, Words
from planner.scenario.words import CoolingLookup, CoolingTemperature


@dataclass(frozen=True)
class Key:
    """What people read about a key: its unit, its meaning, and its default where that is not the field's own.

    ``example`` is a value to show when the key is missing; ``each`` is the placeholder for the names of a mapping.
    """

    unit: str
    meaning: str
    default: str = ""
    example: str = ""
    each: str = ""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return {**handler(core), "description": self.meaning} if self.meaning else dict(handler(core))


class Section(BaseModel):
    """A mapping of known keys. A blank one is empty, and a known key with ``null`` says nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    rivals: ClassVar[tuple[str, str] | None] = None
    """Two keys of which a section has one; that of a later layer replaces the other."""

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        return _given(cls, value)

    @field_validator("*")
    @classmethod
    def _without_rival(cls, value: object, info: ValidationInfo) -> object:
        first, second = cls.rivals or ("", "")
        if info.field_name == second and value is not None and info.data.get(first) is not None:
            raise PydanticCustomError("together", "given together with {rival}", {"rival": first})
        return value


def _given(model: type[Section], value: object) -> object:
    """What a section gives: words as plain text, but for paths, which need to know their folder."""
    if not isinstance(value, dict):
        return {} if value is BLANK else value
    known = words_of(model)
    paths = {word for word, field in known.items() if _is_path(field.annotation)}
    return {
        word: str(each) if isinstance(each, Text) and word not in paths else each
        for word, each in value.items()
        if each is not None or word not in known
    }


def _is_path(annotation: object) -> bool:
    """Whether a field takes a path, perhaps beside other things."""
    return annotation is Path or any(_is_path(part) for part in get_args(annotation))


def words_of(model: type[Section]) -> dict[str, FieldInfo]:
    """The fields of a section by their keys in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _named(value: object) -> object:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if each is not None}
    return {} if value is BLANK else value


Named = BeforeValidator(_named)
"""Marks a mapping of free names: it may be blank, and a name with ``null`` is left out."""


class Power(Section):
    """What a job draws when its source does not say [W per core]: fixed, or drawn between two bounds.

    ``learned`` goes before both for jobs that it knows something of, within the idle power of nodes and the two maxima.
    """

    rivals = ("w_per_core", "draw_w_per_core")

    w_per_core: Annotated[
        float | None,
        Within(limits.W_PER_CORE),
        Key("W per core", "draw of jobs whose source does not say; wins over the default below"),
    ] = None
    draw_w_per_core: Annotated[
        DrawnBetween | None,
        Key("W per core", "drawn per job, uniformly between two bounds; the default is the published study's"),
    ] = (7.8, 11.11)

    learned: Annotated[
        InputFile | None,
        Key(
            "path",
            "file of what finished jobs drew, made by `plan power learn`; jobs of which it knows nothing draw the"
            " constant above",
        ),
    ] = None
    metered: Annotated[
        Literal["node", "job"],
        Key(
            "word",
            "what the power of finished jobs was measured at: `node`: only jobs that had their nodes for themselves"
            " are learned from; `job`: each figure is the job's own",
        ),
    ] = "node"
    includes_idle: Annotated[
        Flag,
        Key(
            "true or false",
            "whether the power of jobs includes the idle power of their nodes; `false`: a node in use draws `idle_w` on"
            " top of its jobs",
        ),
    ] = True
    max_w_per_core: Annotated[
        float | None, Within(limits.W_PER_CORE), Key("W per core", "no job is thought to draw more than this")
    ] = None
    max_w_per_node: Annotated[
        float | None, Within(limits.NODE_W), Key("W per node", "no job is thought to draw more than this on each node")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        """A fixed power wins over the default draw."""
        given = _given(cls, value)
        return {"draw_w_per_core": None} | given if isinstance(given, dict) and "w_per_core" in given else given


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


EurPerHour = Annotated[float, Within(limits.EUR_PER_CORE_HOUR)]
Factor = Annotated[float, Within(limits.REVENUE_WEIGHT)]


class ClassRevenue(Section):
    """What use earns on the nodes of one class; what is not said here is as elsewhere, resource by resource."""

    eur_per_core_hour: Annotated[
        EurPerHour | None,
        Key("EUR per core-hour", "what a core-equivalent earns there", default="that of `revenue`"),
    ] = None
    eur_per_hour: Annotated[
        dict[Name, EurPerHour],
        Named,
        Key(
            "EUR per hour",
            "what each unit of a resource that a job asks for earns there on top, such as `gpus`",
            default="that of `revenue`, resource by resource",
            each="resource",
        ),
    ] = Field(default_factory=dict)


class Revenue(Section):
    """What the use of nodes earns: by core-equivalents, by single resources, by class of nodes and by who pays."""

    eur_per_core_hour: Annotated[
        EurPerHour,
        Key("EUR per core-hour", "what used resources earn, in core-equivalents", example="0.02"),
    ]
    eur_per_hour: Annotated[
        dict[Name, EurPerHour],
        Named,
        Key(
            "EUR per hour",
            "what each unit of a resource that a job asks for earns on top, such as `gpus` or `memory_gb`",
            default="none",
            each="resource",
        ),
    ] = Field(default_factory=dict)
    classes: Annotated[dict[Name, ClassRevenue], Named, Key("", "", each="class")] = Field(default_factory=dict)
    accounts: Annotated[
        dict[Name, Factor],
        Named,
        Key("factor", "on all that the jobs of an account earn, such as `2.5`", default="`1`", each="account"),
    ] = Field(default_factory=dict)
    qos: Annotated[
        dict[Name, Factor],
        Named,
        Key("factor", "on all that the jobs of a QOS earn", default="`1`", each="qos"),
    ] = Field(default_factory=dict)

    def class_prices(self) -> dict[str, UsePrice]:
        """What use earns on the nodes of each class that has prices of its own, those of the site where it has none."""
        return {
            name: UsePrice(
                self.eur_per_core_hour if each.eur_per_core_hour is None else each.eur_per_core_hour,
                {**self.eur_per_hour, **each.eur_per_hour},
            )
            for name, each in self.classes.items()
        }


class Rules(Section):
    """``defer: full`` keeps only what cannot start today; ``free`` lets profit decide.

    A job that was deferred on ``max_deferral_days`` days goes before all others; None: a day after EASY would have
    started it. ``execute: actual`` lets
    jobs end at their real runtime once they are planned. ``max_delay_s`` is the promise to users when jobs are held for
    cheaper hours, ``estimate`` how long planning then thinks that jobs run.
    """

    defer: Annotated[
        DeferRule, Key("word", "`full`: only jobs that cannot start today wait; `free`: profit alone decides")
    ] = "full"
    max_deferral_days: Annotated[
        int | None,
        Whole(limits.DEFERRAL_DAYS),
        Key(
            "days",
            "a job deferred on this many days goes before all others in every ordering",
            default="a day after EASY would have started it; never with `goal.kind: published`",
        ),
    ] = None
    execute: Annotated[
        ExecuteRule,
        Key(
            "word",
            "`requested`: jobs run as long as they asked; `actual`: they end at their real runtime once planned,"
            " and the next day starts from there",
        ),
    ] = "requested"
    max_delay_s: Annotated[
        int | None,
        Duration(limits.MAX_DELAY_S),
        Field(alias="max_delay"),
        Key(
            "duration",
            "the promise to users: no job is held for cheaper hours for longer than this in all, counted from the first"
            " moment at which the scheduler would have started it; plans say how it was kept",
            default="nothing is held",
        ),
    ] = None
    estimate: Annotated[
        Words,
        Key(
            "word",
            "how long planning thinks that jobs run: `requested`, or a predictor such as `last2`;"
            " `plan show predictors` lists them",
        ),
    ] = "requested"


GoalKind = Literal["whole", "published"]
"""What is maximised: the outlook of a day with its waits, or the profit of the calendar day."""


class Goal(Section):
    """What counts when plans are compared; what is not money is no part of the money."""

    kind: Annotated[
        GoalKind,
        Key(
            "word",
            "`whole`: the profit until all known jobs have run, less what their waiting counts; `published`: the profit"
            " of the calendar day, as in the published study",
        ),
    ] = "whole"
    later: Annotated[
        float | None,
        Within(limits.FRACTION),
        Key(
            "part",
            "what a euro that is earned after the day counts: 1 where the queue empties, 0 on an overloaded machine",
            default="by the work that came in on the last seven days and the work that waits",
        ),
    ] = None
    carbon_weight: Annotated[
        float,
        Within(limits.EUR_PER_TONNE),
        Key("EUR per tonne", "what a tonne of CO2 counts when plans are compared, besides its price"),
    ] = 0.0
    waiting: Annotated[
        float | None,
        Within(limits.EUR_PER_WAITING_HOUR),
        Key(
            "EUR per hour",
            "what an hour of waiting of one job counts, in plans and when jobs are held for cheaper hours",
            default="2 % of what the energy of the mean job costs (`hold.waiting_fraction`); in plans of an overloaded"
            " machine a tenth of it",
        ),
    ] = None
    carbon_limit_kg: Annotated[
        float | None,
        Within(limits.CARBON_KG),
        Key("kg", "what a day should emit at most, with the whole runs of what starts on it", default="no limit"),
    ] = None


class Budgets(Section):
    """What accounts may be billed; it decides nothing, and reports mark 80 and 100 % of it."""

    period: Annotated[
        Literal["month", "year"], Key("word", "how long a budget is for: a calendar `month` or `year`")
    ] = "year"
    accounts: Annotated[
        dict[Name, Annotated[float, Within(limits.BUDGET_EUR)]],
        Named,
        Key(
            "EUR",
            "what an account may be billed in the period; reports mark it from 80 and from 100 % on",
            each="account",
            default="none",
        ),
    ] = Field(default_factory=dict)
