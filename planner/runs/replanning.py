"""How the policy ``replan`` goes about a trace under a scenario."""

from __future__ import annotations

from planner.bounds import DAY_S
from planner.domain.horizon import Horizon
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.inputs.build import frame
from planner.online.replanning import Replanning
from planner.scenario.schema import Scenario


def replanning_of(scenario: Scenario, trace: Trace) -> Replanning:
    """What the scenario says about re-planning, with the prices of the time of a trace."""
    if trace.origin_unix is None:
        raise InputError(f"{trace.source}: the trace has no date; add UnixStartTime for the price of the hour")
    last_s = int(trace.submit_s[-1] + trace.requested_s.max()) if len(trace) else 0
    max_delay_s = scenario.rules.max_delay_s or 0
    horizon = Horizon.of_unix(trace.origin_unix, scenario.zone)
    length_s = trace.origin_unix - horizon.start_unix + last_s + max_delay_s + DAY_S
    problem, _ = frame(scenario, Horizon.from_moment(horizon.start_unix, length_s, scenario.zone))
    return Replanning.of(problem, trace, scenario.replan.params(), max_delay_s=max_delay_s, seed=scenario.seed)
