"""An amount times the cell of a table in CP-SAT, linear in every row of the table.

For rows k that exclude each other with literals z_k, the product of an amount V and cell c_k is the sum over k of
c_k * w_k, where w_k is V in its own row and 0 elsewhere, and V is the sum of the w_k. Where V and the row come from the
same quantity, each w_k lies between the bounds of its row, which gives the linear relaxation the shape of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ortools.sat.python import cp_model

from planner.cp.engines.cpsat_terms import Arithmetic, Term

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
