"""The policies by name: what each does in a round, in a sentence, and where it comes from.

Here is also how long searches of the simulator go on, and how the engine of a policy did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.errors import InputError
from planner.online.objectives import PUBLISHED_SEEDS, Objective, objective_named
from planner.online.objectives import SENTENCES as OBJECTIVES

ORDERS: dict[str, str] = {
    "fcfs": "by submit time",
    "sjf": "shortest estimate first, narrower first among equals",
    "ljf": "longest estimate first, wider first among equals",
    "saf": "smallest area first: width times estimate",
    "laf": "largest area first: width times estimate",
    "laljf": "largest area first, longer first among equals",
    "spf": "smallest product of width and squared estimate first, smaller area first among equals",
    "srf": "smallest request first: narrowest, shorter first among equals",
    "lrf": "largest request first: widest, longer first among equals",
}
"""Orders of the queue; jobs that are still equal keep their submit order."""

ALIASES = {
    "backfill": "list",
    "list-reg": "list",
    "justbf": "list",
    "cbf": "conservative",
    "dbf": "deadline",
    "fcfs": "strict",
}

SENTENCES: dict[str, str] = {
    "strict": "in order, starts what fits and stops at the first job that does not (first come, first served)",
    "greedy": "in order, starts what fits and skips the rest (list scheduling; Graham 1969)",
    "list": "in order, reserves the earliest start for every job anew in each round and starts those that start now"
    " (List-REG, JustBF; Goponenko et al. 2022)",
    "easy": "starts jobs in order, reserves for the first that cannot start, and starts others that do not delay it"
    " (Lifka 1995; Mu'alem and Feitelson 2001)",
    "order": "plans the queue anew in each round, in the order that serves a local objective best, and starts what then"
    " starts now (as the CP schedulers of Goponenko et al.)",
    "cp": "has a CP engine plan the queue anew in each round for a local objective, and starts what then starts now"
    " (Goponenko et al.); not reproducible where the time limit ends a search",
    "conservative": "reserves for every job at submission and keeps it; compresses in submit order when a job ends"
    " early (CBF; Feitelson and Weil 1998)",
    "deadline": "conservative for regular jobs; jobs with a deadline have tentative reservations that give way when a"
    " regular job arrives, never past the deadline (DBF; N'Takpé and Suter 2017)",
    "deadline-early": "deadline whose tentative reservations give way to waiting regular jobs as well when a job ends"
    " early",
}

DISPATCHERS: dict[str, str] = {
    "hcp19": "has a CP engine plan the starts of the jobs that could start now as if all nodes were one, and gives them"
    " nodes by best fit (HCP'19; Galleguillos et al. 2019)",
    "pcp19": "has a CP engine plan starts and nodes of the jobs that could start now, an interval per unit and node"
    " (PCP'19; Galleguillos et al. 2019)",
    "pcp21": "plans starts and nodes of the jobs that could start now by a search of its own with the published"
    " branching; needs no engine (PCP'21; Galleguillos et al. 2021)",
    "pcp21s": "pcp21 that goes back to starts before it goes back to nodes (PCP'21s)",
}
"""The kind ``cp`` for machines with node classes and several resources: who plans what could start now."""

OF_2019 = ("hcp19", "pcp19")
"""Those that need a CP engine, break ties by area alone, and skip a round in which nothing changed."""

NODES_AFTERWARDS = ("hcp19",)
"""Those that plan starts alone, and choose nodes in their own way for what starts now."""

KINDS = tuple(SENTENCES)
"""Kinds of policy, in the order of their numbers in `planner.online.kernel.state`."""

ORDERED = ("list", "greedy", "strict", "easy")
"""Those that take an order of the queue."""

TOTAL_SLOWDOWN = objective_named("stretch")
"""What dispatchers plan for."""

RESERVING = ("conservative", "deadline", "deadline-early")
"""Those that keep reservations from round to round."""

SIMPLE = ("strict", "greedy", "easy")
"""Those that plan nothing ahead but one reservation."""

PLANNING = ("order", "cp")
"""Those that plan the queue for a local objective."""

HOLDING = ("easy", "conservative", "greedy", "strict")
"""Those of which jobs can be held for cheaper hours."""

HOLD = "hold"
HOLD_SENTENCE = (
    "easy, of which jobs are held for cheaper hours where that saves more than their waiting costs, each for at most"
    " rules.max_delay; of another policy with its name: hold:easy-sjbf, hold:conservative"
)


@dataclass(frozen=True)
class Policy:
    """A policy: its kind, the order of the queue, and for easy the order of what is started beside the reservation.

    That is the order of the queue unless another is given. With ``holds``, jobs that it would start may be held.
    ``objective`` is the local objective of order and cp, AF unless another is given; with ``plus`` its published seeds
    are improved one by one. With a ``dispatcher`` cp plans what could start now for the least total slowdown.
    ``as_rule`` is for the rules that plans are compared with: strict looks at the queue again when a job has ended, not
    when one arrives, and units of several sizes get nodes as in plans.
    """

    kind: str
    order: str = "fcfs"
    backfill_order: str = ""
    objective: Objective | None = None
    plus: bool = False
    dispatcher: str = ""
    as_rule: bool = False
    holds: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "backfill_order", self.backfill_order or self.order)
        if self.kind not in KINDS:
            raise InputError(f"unknown policy {self.kind!r}; known: {', '.join(KINDS)}")
        for order in (self.order, self.backfill_order):
            if order not in ORDERS:
                raise InputError(f"unknown order {order!r}; known: {', '.join(ORDERS)}")
        if self.kind not in ORDERED and self.order != "fcfs":
            raise InputError(f"policy {self.kind!r} has no orders: it serves jobs as they were submitted")
        if self.kind != "easy" and self.backfill_order != self.order:
            raise InputError(f"policy {self.kind!r} has one order; a second one is for easy")
        if self.kind in PLANNING and self.objective is None:
            object.__setattr__(self, "objective", objective_named("af"))
        if self.kind not in PLANNING and self.objective is not None:
            raise InputError(f"policy {self.kind!r} has no local objective; {' and '.join(PLANNING)} have")
        if self.kind == "cp" and self.objective is not None and not self.objective.is_regular:
            known = ", ".join(name for name in OBJECTIVES if objective_named(name).is_regular)
            raise InputError(
                f"{self.name}: engines plan for sums that no wait lowers; known: {known}; order-{self.objective.name}"
            )
        if self.dispatcher and self.dispatcher not in DISPATCHERS:
            raise InputError(f"unknown dispatcher {self.dispatcher!r}; known: {', '.join(DISPATCHERS)}")
        if self.dispatcher and (self.kind, self.objective) != ("cp", TOTAL_SLOWDOWN):
            raise InputError(f"dispatcher {self.dispatcher!r} is of the kind cp and plans for total slowdown")
        if self.as_rule and self.kind not in ("strict", "greedy"):
            raise InputError(f"policy {self.kind!r} is no rule; strict and greedy may be")
        if self.holds and self.kind not in HOLDING:
            base = replace(self, holds=False).name
            raise InputError(f"jobs of {base!r} cannot be held; those of {', '.join(HOLDING)} can")
        if self.plus and not (self.objective and self.objective.seeds):
            raise InputError(f"{self.name}: no seeds were published for it; a plus goes with bsld and p2sf")

    @property
    def name(self) -> str:
        """The name that selects the policy."""
        if self.holds:
            base = replace(self, holds=False).name
            return HOLD if base == "easy" else f"{HOLD}:{base}"
        if self.dispatcher:
            return self.dispatcher
        if self.objective is not None:
            return f"{self.kind}-{self.objective.name}{'+' if self.plus else ''}"
        before = "" if self.order == "fcfs" else f"{self.order}-"
        if self.backfill_order == self.order:
            return f"{before}{self.kind}"
        return f"{before}{self.kind}-{'fcfs' if self.backfill_order == 'fcfs' else self.backfill_order[:-1] + 'bf'}"

    @property
    def needs_engine(self) -> bool:
        """Whether it can do nothing without a CP engine."""
        return self.kind == "cp" and (not self.dispatcher or self.dispatcher in OF_2019)

    @property
    def needs_prices(self) -> bool:
        """Whether it can do nothing without prices and revenue."""
        return self.objective is not None and self.objective.needs_prices

    def scans_only_if_fits(self, rounds: str, *, predicted: bool) -> bool:
        """Whether an arrival alone makes it look at the queue only if that job fits.

        EASY does so in the published runs; EASY-SJBF does with predictions and at most one round per second.
        """
        return self._is_easy_or_sjbf and (self.backfill_order == "fcfs" or (predicted and rounds == "second"))

    def refreshes(self, rounds: str, predictions: str = "usual") -> bool:
        """Whether predictions of waiting jobs are made anew in every round; else a job keeps that of its arrival.

        As usual they are under the policies that do so in the published runs, with at most one round per second.
        InputError where they cannot be: a reservation is as long as the prediction with which it was made.
        """
        if predictions == "usual":
            return rounds == "second" and (self.kind in ("greedy", "list", *PLANNING) or self._is_easy_or_sjbf)
        if predictions == "round" and self.kind in RESERVING:
            raise InputError(
                f"policy {self.name} keeps reservations, which are as long as the predictions of arrival; give it"
                " predictions usual or arrival"
            )
        return predictions == "round"

    @property
    def _is_easy_or_sjbf(self) -> bool:
        return self.kind == "easy" and self.order == "fcfs" and self.backfill_order in ("fcfs", "sjf")


def policy_named(name: str) -> Policy:
    """The policy of a name such as ``list``, ``saf-list``, ``easy``, ``saf-easy``, ``easy-sjbf``, ``saf-easy-sjbf``."""
    text = name.strip().lower()
    if text == HOLD or text.startswith(f"{HOLD}:"):
        return replace(policy_named(text[len(HOLD) + 1 :] or "easy"), holds=True)
    if text in DISPATCHERS:
        return Policy("cp", objective=TOTAL_SLOWDOWN, dispatcher=text)
    first, _, objective = text.removesuffix("+").partition("-")
    if first in PLANNING:
        return Policy(first, objective=objective_named(objective or "af"), plus=text.endswith("+"))
    text = ALIASES.get(text, text)
    if text in KINDS:
        return Policy(text)
    parts = text.split("-")
    kinds = [part for part in parts if ALIASES.get(part, part) in KINDS and part not in (*ORDERS, "order")]
    if len(kinds) != 1:
        raise InputError(f"unknown policy {name!r}; known: {', '.join(POLICIES)}; aliases: {', '.join(ALIASES)}")
    place = parts.index(kinds[0])
    kind = ALIASES.get(kinds[0], kinds[0])
    before, after = parts[:place], parts[place + 1 :]
    if kind != "easy" and not before:
        before, after = after, []
    if len(before) > 1 or len(after) > (1 if kind == "easy" else 0):
        raise InputError(f"unknown policy {name!r}; write ORDER-{kind}" + ("-xxBF" if kind == "easy" else ""))
    order = _order(before[0], name) if before else "fcfs"
    backfill = ""
    if after:
        backfill = after[0].removesuffix("bf") + "f"
        backfill = backfill if backfill in ORDERS else _order(after[0], name)
    return Policy(kind, order, backfill)


def _order(text: str, name: str) -> str:
    if text not in ORDERS:
        raise InputError(f"unknown order {text!r} in policy {name!r}; known: {', '.join(ORDERS)}")
    return text


def _known() -> dict[str, str]:
    found = {name: sentence for name, sentence in SENTENCES.items() if name not in PLANNING}
    for kind in PLANNING:
        for objective, meaning in OBJECTIVES.items():
            if kind == "order" or objective_named(objective).is_regular:
                found[f"{kind}-{objective}"] = f"{SENTENCES[kind]}: {meaning}"
        for objective in PUBLISHED_SEEDS:
            found[f"{kind}-{objective}+"] = f"{kind}-{objective} that also improves the published seeds one by one"
    found[HOLD] = HOLD_SENTENCE
    found |= DISPATCHERS
    for order, meaning in ORDERS.items():
        if order == "fcfs":
            continue
        for kind in ORDERED:
            found[f"{order}-{kind}"] = f"{kind} with the queue in another order: {meaning}"
        found[f"easy-{order[:-1]}bf"] = f"easy that starts others beside the reservation in another order: {meaning}"
    found["easy-sjbf"] = (
        "easy that starts others beside the reservation shortest estimate first (EASY++ without predictions)"
    )
    found["saf-easy-sjbf"] = "both orders at once: any ORDER-easy-xxBF is understood, and ORDER-easy-fcfs"
    return found


POLICIES = _known()
"""Every policy that has a name of its own, with a sentence."""


@dataclass(frozen=True)
class QueueSearch:
    """How much a round of the policy ``order`` tries: orders per waiting job; and the seed of its random changes."""

    evaluations: int = 3
    seed: int = 0


USUAL_SEARCH = QueueSearch()


@dataclass(frozen=True)
class EngineCounts:
    """Rounds in which the engine of the policy ``cp`` was asked, those with a proven best plan, and those with none."""

    rounds: int = 0
    proven: int = 0
    fallbacks: int = 0


@dataclass(frozen=True)
class OfflineSearch:
    """How long the search for an off-line schedule goes on: steps per job, or seconds if given; and its seed.

    With steps the result depends on the seed alone, with seconds on the machine too. ``bound_steps`` go into the proof
    of what no schedule can be below; 0: there is none.
    """

    steps: int = 60
    seed: int = 0
    seconds: float | None = None
    bound_steps: int = 1400
