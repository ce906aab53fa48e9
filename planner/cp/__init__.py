"""Constraint programming: the day's profit model in docplex, its engines, and the searches that use them.

docplex runs a file ``cpo_config.py`` of the current folder when it is loaded; so it is loaded where there is none.
"""

from planner.places import away

with away():
    import docplex.cp.config  # noqa: F401
