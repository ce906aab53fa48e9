"""The default of each option, in one place for the command line and for Python."""

from __future__ import annotations

METHOD = "harvest"

ITERATIONS = 20_000
"""Steps of a search: a few seconds on a day of some thousand jobs."""

LOOKAHEAD_DAYS = 2
"""Days that a search plans together where the queue reaches beyond the first of them."""

TIME_LIMIT_S = 60.0
"""Time after which a search ends, if its steps do not end it first [s]."""

ROUND_ENGINE = "cpsat"
"""The CP engine that plans scheduling rounds."""

ROUND_TIME_S = 1.0
"""Time after which it ends the plan of one round; in the published runs 20 s [s]."""

DISPATCH_STEPS = 200
"""Steps that the search of pcp21 takes at first; they double up to 16 times as many while the plan gets better."""

BOUND_TIME_S = 30.0
"""Time that the bound on the profit may take [s]."""

RUN_BOUND_TIME_S = 300.0
"""Time that the bound of a whole run may take [s]."""

STUDY_BOUND_TIME_S = 60.0
"""The same in a study, whose gaps are published [s]."""
