"""Distinct rows of a table: those that numpy finds, in the same order."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import distinct_rows


def test_distinct_rows_are_those_of_numpy() -> None:
    """Random tables of no row to many, of one column to four, negative numbers and equal rows among them."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        table = draw.integers(-2, 3, (int(draw.integers(0, 30)), int(draw.integers(1, 5))))
        rows, which = distinct_rows(table)
        expected, inverse = np.unique(table, axis=0, return_inverse=True)
        assert rows.tolist() == expected.tolist()
        assert which.tolist() == inverse.reshape(-1).tolist()
