"""Mutations of tables: cells, rows and columns of a file that has them."""

from __future__ import annotations

import csv
import io
import random

from tests.fuzz.odd import MOMENTS, odd_number, odd_text, odd_word

Grid = list[list[str]]


def read_grid(text: str) -> Grid:
    """The cells of a CSV."""
    return [row for row in csv.reader(io.StringIO(text)) if row]


def mutated(rng: random.Random, grid: Grid, *, first: int = 1) -> Grid:
    """The table with one to three things changed; rows before ``first`` are its head."""
    grid = [list(row) for row in grid]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        _change(rng, grid, first)
    return grid


def csv_text(rng: random.Random, grid: Grid) -> str:
    """The table as CSV, quoted in one way or another."""
    if rng.random() < 0.2:
        return "\n".join(",".join(row) for row in grid) + "\n"
    text = io.StringIO(newline="")
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(text, quoting=quoting, lineterminator=rng.choice(["\n", "\n", "\r\n"])).writerows(grid)
    return text.getvalue()


def _change(rng: random.Random, grid: Grid, first: int) -> None:
    rows = [k for k in range(len(grid)) if grid[k]]
    if not rows:
        grid.append([odd_word(rng)])
        return
    row = rng.choice([k for k in rows if k >= first] or rows)
    column = rng.randrange(len(grid[row]))
    match rng.randrange(16):
        case 0 | 1 | 2 | 3:
            grid[row][column] = odd_number(rng)
        case 4:
            grid[row][column] = odd_text(rng)
        case 5:
            grid[row][column] = rng.choice(MOMENTS)
        case 6:
            value = odd_word(rng)
            for each in grid[first:]:
                if column < len(each):
                    each[column] = value
        case 7:
            head = grid[rng.randrange(first)] if first else grid[row]
            if head:
                place = rng.randrange(len(head))
                head[place] = rng.choice([odd_word(rng), head[place].upper(), head[place] + " ", rng.choice(head)])
        case 8:
            for each in grid:
                del each[column : column + 1]
        case 9:
            for each in grid:
                each.insert(column, each[column] if column < len(each) else "")
        case 10:
            for each in grid:
                each.append(odd_word(rng))
        case 11:
            other = rng.randrange(len(grid[row]))
            for each in grid:
                if max(column, other) < len(each):
                    each[column], each[other] = each[other], each[column]
        case 12:
            del grid[row]
        case 13:
            grid.insert(row, list(grid[row]))
        case 14:
            grid[row] = grid[row][:column] if rng.random() < 0.5 else [*grid[row], odd_word(rng)]
        case _:
            other = rng.choice(rows)
            grid[row], grid[other] = grid[other], grid[row]
