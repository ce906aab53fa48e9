"""Plans an HPC site's day for profit: revenue from the resources used, less energy, less cooling.

Scripts may rely on what this module offers, in ``__all__``; docs/python.md has examples. All modules below it are
private: they change without notice. Names are loaded when they are first used, so that the command line stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.accounting.audit import audit as audit
    from planner.accounting.settle import settle as settle
    from planner.api.commands import book as book
    from planner.api.commands import compare as compare
    from planner.api.commands import now as now
    from planner.api.commands import plan as plan
    from planner.api.commands import report as report
    from planner.api.commands import run as run
    from planner.api.commands import simulate as simulate
    from planner.api.results import Frames as Frames
    from planner.api.results import frames as frames
    from planner.api.results import power_figure as power_figure
    from planner.api.results import read_day as read_day
    from planner.api.steps import bound as bound
    from planner.api.steps import build_day as build_day
    from planner.api.steps import load_scenario as load_scenario
    from planner.api.steps import plan_day as plan_day
    from planner.errors import InputError as InputError
    from planner.errors import PlannerError as PlannerError

__version__ = "0.1.0"

_PLACES = {
    **dict.fromkeys(("InputError", "PlannerError"), "planner.errors"),
    **dict.fromkeys(("book", "compare", "now", "plan", "report", "run", "simulate"), "planner.api.commands"),
    **dict.fromkeys(("bound", "build_day", "load_scenario", "plan_day"), "planner.api.steps"),
    **dict.fromkeys(("Frames", "frames", "power_figure", "read_day"), "planner.api.results"),
    "audit": "planner.accounting.audit",
    "settle": "planner.accounting.settle",
}
"""In which module each public name is."""

__all__ = [
    "Frames",
    "InputError",
    "PlannerError",
    "__version__",
    "audit",
    "book",
    "bound",
    "build_day",
    "compare",
    "frames",
    "load_scenario",
    "now",
    "plan",
    "plan_day",
    "power_figure",
    "read_day",
    "report",
    "run",
    "settle",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
