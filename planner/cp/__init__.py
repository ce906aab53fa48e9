"""Constraint programming: the day's profit model in docplex, its engines, and the searches that use them."""
