"""Interval variables in CP-SAT: a start, a fixed size and a presence.

An absent interval starts after everything, or, in large models, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from planner.cp.engines.cpsat_terms import Arithmetic, Term, constant


@dataclass(frozen=True)
class Hint:
    """Where the starting point has an interval; ``start`` is None where it is absent."""

    start: int | None


@dataclass
class Span:
    """One interval: its start, size, presence literal (None: always present), and the interval itself.

    ``parent`` is the interval that it copies when present, for the children of an alternative. ``is_loose``: while it
    is absent its start means nothing.
    """

    start: Term
    size: int
    presence: Any
    interval: Any
    hinted_present: bool | None
    parent: Span | None = None
    is_loose: bool = False
    elapsed: dict[int, Term] = field(default_factory=dict)

    @property
    def present(self) -> Term:
        """1 when the interval is present."""
        if self.presence is None:
            return constant(1)
        return Term(self.presence, 0, 1, None if self.hinted_present is None else int(self.hinted_present))


class Spans:
    """Makes intervals and measures how much of them lies before a moment."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._model = arithmetic.model

    def top(self, first: int, last: int, size: int, *, optional: bool, beyond: int, hint: Hint | None) -> Span:
        """An interval of its own; if it is absent its start is ``beyond``, which no question reaches."""
        away = max(last + 1, beyond)
        hinted = None if hint is None else (away if hint.start is None else hint.start)
        if not optional:
            start = constant(first) if first == last else self._arithmetic.variable(first, last, hinted)
            interval = self._model.new_fixed_size_interval_var(start.expression, size, "")
            return Span(start, size, None, interval, True)
        domain = cp_model.Domain.from_intervals([[first, last], [away, away]])
        variable = self._model.new_int_var_from_domain(domain, "")
        presence = self._model.new_bool_var("")
        self._model.add(variable <= last).only_enforce_if(presence)
        self._model.add(variable == away).only_enforce_if(~presence)
        if hint is not None:
            self._model.add_hint(variable, hinted)
            self._model.add_hint(presence, hint.start is not None)
        interval = self._model.new_optional_fixed_size_interval_var(variable, size, presence, "")
        start = Term(variable, first, away, hinted)
        return Span(start, size, presence, interval, None if hint is None else hint.start is not None)

    def loose(self, first: int, last: int, size: int) -> Span:
        """An interval of its own that may be absent, and whose start then means nothing.

        Engines find plans of many jobs more easily so: presence and start are two decisions.
        """
        start = self._arithmetic.variable(first, last, None)
        presence = self._model.new_bool_var("")
        interval = self._model.new_optional_fixed_size_interval_var(start.expression, size, presence, "")
        return Span(start, size, presence, interval, None, is_loose=True)

    def child(self, parent: Span, hint: Hint | None) -> Span:
        """A copy of an interval that may be absent when its parent is present."""
        presence = self._model.new_bool_var("")
        if hint is not None:
            self._model.add_hint(presence, hint.start is not None)
        start = parent.start.expression
        interval = self._model.new_optional_fixed_size_interval_var(start, parent.size, presence, "")
        present = None if hint is None else hint.start is not None
        return Span(parent.start, parent.size, presence, interval, present, parent)

    def overlap(self, span: Span, start_s: int, end_s: int) -> Term:
        """Seconds of an interval between two moments; 0 when it is absent."""
        if span.parent is not None:
            whole = self.overlap(span.parent, start_s, end_s)
        else:
            whole = self._between(self._elapsed(span, start_s), self._elapsed(span, end_s), end_s - start_s)
            if not span.is_loose:
                return whole
        hint = None if whole.hint is None or span.hinted_present is None else whole.hint * span.hinted_present
        made = self._arithmetic.variable(0, whole.most, hint)
        self._model.add(made.expression == whole.expression).only_enforce_if(span.presence)
        self._model.add(made.expression == 0).only_enforce_if(~span.presence)
        if span.is_loose:
            self._model.add(made.expression <= whole.most * span.presence)
        return made

    def _elapsed(self, span: Span, moment: int) -> Term:
        """Seconds of an interval before a moment: max(0, min(size, moment - start))."""
        if moment not in span.elapsed:
            start, arithmetic = span.start, self._arithmetic
            hint = None if start.hint is None else moment - start.hint
            gone = Term(moment - start.expression, moment - start.most, moment - start.least, hint)
            capped = arithmetic.smallest([constant(span.size), gone])
            span.elapsed[moment] = arithmetic.largest([constant(0), capped])
        return span.elapsed[moment]

    def _between(self, before: Term, after: Term, length_s: int) -> Term:
        hint = None if after.hint is None or before.hint is None else after.hint - before.hint
        expression = after.expression - before.expression
        if not before.is_constant and not after.is_constant:
            # It follows from what both are, but the linear relaxation does not see it.
            self._model.add_linear_constraint(expression, 0, length_s)
        most = min(length_s, after.most - before.least)
        several = not before.is_constant and not after.is_constant
        return Term(expression, max(0, after.least - before.most), most, hint, several)
