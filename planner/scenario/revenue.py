"""The sections ``revenue`` and ``budgets`` of a scenario: what use earns, and what accounts may be billed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner import limits
from planner.domain.rates import UsePrice
from planner.scenario.sections import Key, Named, Section
from planner.scenario.values import Name, Within

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
