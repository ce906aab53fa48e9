"""Integer expressions of CP-SAT with their bounds and, where the model has a starting point, their hinted values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model


@dataclass(frozen=True, eq=False)
class Term:
    """A linear expression between two bounds; ``hint`` is its value at the starting point, if there is one."""

    expression: Any
    least: int
    most: int
    hint: int | None = None
    several: bool = False
    """Whether it is a sum of more than one variable, which CP-SAT takes in linear constraints only."""
    origin: tuple[Term, int, int] | None = None
    """The term, offset and divisor that it comes from: its value is (term + offset) div divisor, both not negative."""

    @property
    def root(self) -> Term:
        """The term that it comes from, or itself."""
        return self if self.origin is None else self.origin[0]

    @property
    def offset(self) -> int:
        """What was added to the root."""
        return 0 if self.origin is None else self.origin[1]

    @property
    def divisor(self) -> int:
        """What the root was divided by afterwards."""
        return 1 if self.origin is None else self.origin[2]

    @property
    def is_constant(self) -> bool:
        """Whether it can take one value only."""
        return self.least == self.most


def constant(value: int) -> Term:
    """A number."""
    return Term(value, value, value, value)


class Arithmetic:
    """Makes terms from terms; variables that it needs on the way are hinted as they are made."""

    def __init__(self, model: cp_model.CpModel) -> None:
        self.model = model
        self._singles: dict[Term, Term] = {}

    def variable(self, least: int, most: int, hint: int | None) -> Term:
        """A new variable."""
        made = self.model.new_int_var(least, most, "")
        if hint is not None:
            self.model.add_hint(made, hint)
        return Term(made, least, most, hint)

    def total(self, terms: Sequence[Term]) -> Term:
        """The sum of terms."""
        expression = cp_model.LinearExpr.sum([term.expression for term in terms])
        several = sum(not term.is_constant for term in terms) > 1 or any(term.several for term in terms)
        least, most, hint = sum(t.least for t in terms), sum(t.most for t in terms), _hints(sum, terms)
        moving = [term for term in terms if not term.is_constant]
        origin = None
        if len(moving) == 1 and moving[0].divisor == 1:
            added = sum(term.least for term in terms if term.is_constant)
            origin = (moving[0].root, moving[0].offset + added, 1)
        return Term(expression, least, most, hint, several, origin)

    def single(self, term: Term) -> Term:
        """The same value as one variable at most."""
        if not term.several:
            return term
        if term not in self._singles:
            made = self.variable(term.least, term.most, term.hint)
            self.model.add(made.expression == term.expression)
            self._singles[term] = made
        return self._singles[term]

    def scaled(self, term: Term, factor: int) -> Term:
        """A term times a number."""
        ends = sorted((term.least * factor, term.most * factor))
        hint = None if term.hint is None else term.hint * factor
        return Term(term.expression * factor, ends[0], ends[1], hint, term.several)

    def product(self, left: Term, right: Term) -> Term:
        """The product of two terms."""
        if left.is_constant or right.is_constant:
            fixed, other = (left, right) if left.is_constant else (right, left)
            return self.scaled(other, fixed.least)
        ends = [a * b for a in (left.least, left.most) for b in (right.least, right.most)]
        hint = None if left.hint is None or right.hint is None else left.hint * right.hint
        made = self.variable(min(ends), max(ends), hint)
        left, right = self.single(left), self.single(right)
        self.model.add_multiplication_equality(made.expression, [left.expression, right.expression])
        return made

    def quotient(self, term: Term, divisor: int) -> Term:
        """A term divided by a positive number, cut towards zero."""
        if divisor == 1:
            return term
        cut = [int(abs(end) // divisor) * (1 if end >= 0 else -1) for end in (term.least, term.most)]
        hint = None if term.hint is None else (abs(term.hint) // divisor) * (1 if term.hint >= 0 else -1)
        if cut[0] == cut[1]:
            return constant(cut[0])
        made = self.variable(cut[0], cut[1], hint)
        if term.least < 0:
            self.model.add_division_equality(made.expression, self.single(term).expression, divisor)
            return made
        # Not the engine's own division: version 9.15 proves feasible models with it infeasible.
        self.model.add_linear_constraint(term.expression - divisor * made.expression, 0, divisor - 1)
        if term.divisor != 1:
            return made
        return Term(made.expression, made.least, made.most, hint, origin=(term.root, term.offset, divisor))

    def largest(self, terms: Sequence[Term]) -> Term:
        """The largest of terms."""
        least, most = max(t.least for t in terms), max(t.most for t in terms)
        rivals = [t for t in terms if t.most >= least]
        if len(rivals) == 1:
            return rivals[0]
        made = self.variable(least, most, _hints(max, terms))
        self.model.add_max_equality(made.expression, [t.expression for t in rivals])
        return made

    def smallest(self, terms: Sequence[Term]) -> Term:
        """The smallest of terms."""
        least, most = min(t.least for t in terms), min(t.most for t in terms)
        rivals = [t for t in terms if t.least <= most]
        if len(rivals) == 1:
            return rivals[0]
        made = self.variable(least, most, _hints(min, terms))
        self.model.add_min_equality(made.expression, [t.expression for t in rivals])
        return made

    def cell(self, cells: Sequence[int], index: Term) -> Term:
        """The cell of a list at an index."""
        if index.is_constant:
            return constant(cells[index.least])
        reachable = cells[index.least : index.most + 1]
        hint = None if index.hint is None else cells[index.hint]
        made = self.variable(min(reachable), max(reachable), hint)
        self.model.add_element(self.single(index).expression, list(cells), made.expression)
        return made


def _hints(combine: Any, terms: Sequence[Term]) -> int | None:
    values = [term.hint for term in terms]
    return None if any(value is None for value in values) else int(combine(values))
