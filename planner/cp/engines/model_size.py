"""The size of a model as the Community Edition counts it: the bits of its decisions, of which it takes 1000.

Every free top-level interval costs log2 of its possible starts (of at most N, the number of top-level intervals) and of
its absence; every alternative log2 of its children; every integer variable log2 of its domain. Expressions and the
children of alternatives cost nothing.
"""

from __future__ import annotations

from math import log2

from docplex.cp.expression import CpoFunctionCall, CpoIntervalVar, CpoIntVar
from docplex.cp.model import CpoModel

COMMUNITY_BITS = 1000


def bits(model: CpoModel) -> float:
    """Bits of a model's decisions."""
    children: set[int] = set()
    total = 0.0
    for expression, _ in model.get_all_expressions():
        if isinstance(expression, CpoFunctionCall) and expression.operation.cpo_name == "alternative":
            seats = expression.children[1].children
            children.update(map(id, seats))
            total += log2(len(seats))
    variables = model.get_all_variables()
    tops = [one for one in variables if isinstance(one, CpoIntervalVar) and id(one) not in children]
    for interval in tops:
        starts = min(interval.start[1] - interval.start[0] + 1, len(tops))
        total += log2(starts + (1 if interval.is_optional() else 0))
    for variable in variables:
        if isinstance(variable, CpoIntVar):
            total += log2(variable.get_domain_max() - variable.get_domain_min() + 1)
    return total


def calls_any(model: CpoModel, names: tuple[str, ...]) -> bool:
    """Whether a model calls one of these functions anywhere."""
    seen: set[int] = set()
    waiting = [expression for expression, _ in model.get_all_expressions()]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, CpoFunctionCall) and one.operation.cpo_name in names:
            return True
        waiting += one.children
    return False
