"""Integer expressions of CP-SAT with their bounds and, where the model has a starting point, their hinted values.

Among them an amount times the cell of a table, linear in every row of the table. For rows k that exclude each other by
literals z_k, the product of an amount V and cell c_k is the sum over k of c_k * w_k, where w_k is V in its own row and
0 elsewhere, and V is the sum of the w_k. Where V and the row come from the same quantity, each w_k lies between the
bounds of its row, which gives the linear relaxation the shape of the table.
"""

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


MOST_ROWS = 64
"""With more rows than this in reach the product is left to the engine."""


class Bands:
    """Products with cells; the literals of an index are made once."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._model = arithmetic.model
        self._literals: dict[Term, dict[int, Any]] = {}

    def product(self, amount: Term, cells: Sequence[int], index: Term) -> Term:
        """An amount times the cell at an index."""
        if amount.is_constant or index.is_constant or index.most - index.least >= MOST_ROWS:
            return self._arithmetic.product(amount, self._arithmetic.cell(cells, index))
        literals = self._rows(index, len(cells))
        parts, earned = [], []
        for row, literal in literals.items():
            least, most = _range_in_row(amount, index, row)
            hinted = None if index.hint is None else (amount.hint if index.hint == row else 0)
            part = self._arithmetic.variable(min(0, least), max(0, most), hinted)
            self._model.add_linear_constraint(part.expression, least, most).only_enforce_if(literal)
            self._model.add(part.expression == 0).only_enforce_if(~literal)
            self._model.add(part.expression <= most * literal)
            self._model.add(part.expression >= least * literal)
            parts.append(part)
            earned.append(self._arithmetic.scaled(part, cells[row]))
        whole = self._arithmetic.total(parts)
        self._model.add(whole.expression == amount.expression)
        total = self._arithmetic.total(earned)
        ends = [amount.least * cells[row] for row in literals] + [amount.most * cells[row] for row in literals]
        return Term(total.expression, min(ends), max(ends), total.hint, several=True)

    def _rows(self, index: Term, count: int) -> dict[int, Any]:
        if index not in self._literals:
            literals = {}
            for row in range(max(0, index.least), min(index.most, count - 1) + 1):
                literal = self._model.new_bool_var("")
                if index.hint is not None:
                    self._model.add_hint(literal, index.hint == row)
                least, most = _range_of_row(index, row)
                self._model.add_linear_constraint(index.root.expression, least, most).only_enforce_if(literal)
                literals[row] = literal
            self._model.add_exactly_one(literals.values())
            lows = [_range_of_row(index, row)[0] * literal for row, literal in literals.items()]
            highs = [_range_of_row(index, row)[1] * literal for row, literal in literals.items()]
            self._model.add(cp_model.LinearExpr.sum(lows) <= index.root.expression)
            self._model.add(cp_model.LinearExpr.sum(highs) >= index.root.expression)
            self._literals[index] = literals
        return self._literals[index]


def _range_of_row(index: Term, row: int) -> tuple[int, int]:
    """What the quantity behind an index can be in a row."""
    least = row * index.divisor - index.offset
    return max(least, index.root.least), min(least + index.divisor - 1, index.root.most)


def _range_in_row(amount: Term, index: Term, row: int) -> tuple[int, int]:
    """What an amount can be in a row."""
    if amount.root is not index.root:
        return amount.least, amount.most
    ends = ((end + amount.offset) // amount.divisor for end in _range_of_row(index, row))
    least, most = ends
    return max(least, amount.least), min(most, amount.most)
