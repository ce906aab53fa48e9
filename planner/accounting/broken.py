"""A plan of a search that breaks a rule: a bug of the planner, which must not pass for a plan that earns less.

A site must not be left without a plan, so the search goes on without the broken one, and its result says so: on stderr
and in summary.json (``stands_in_for``). Tests turn `raises` on.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.accounting.audit import Violation, broken_rules
from planner.errors import AuditError

raises = False
"""Whether a broken plan ends everything with AuditError."""


def why_broken(whose: str, violations: Sequence[Violation]) -> str:
    """Whose plan breaks which rules, in words; empty when it breaks none."""
    if not violations:
        return ""
    why = f"the plan of {whose} breaks {broken_rules(violations)}"
    if raises:
        raise AuditError(why)
    return why
