"""Schedules of small traces are the same in every version: published figures and the studies of users rest on them."""

from __future__ import annotations

import hashlib

from tests.online.hard_days import hard_day

KEPT = {
    "strict": "dbb8a0729883",
    "srf-strict": "7feb04f07efe",
    "greedy": "e8e0eea63585",
    "ljf-greedy": "500e146db294",
    "list": "86eeaaa9b931",
    "saf-list": "3ba4fd8206d5",
    "easy": "9b2324c9d7de",
    "spf-easy": "9373646c1b19",
    "saf-easy-sjbf": "e6d1c0d17b09",
    "easy-lrbf": "98eef4572b15",
    "conservative": "221965b7645c",
    "deadline": "125a0319d73e",
    "deadline-early": "7c26e713c5d8",
    "order-af": "1668527555de",
    "order-awf": "eedb49833104",
    "order-bsld": "9539865707d8",
    "order-bsld+": "6d9e8a448f9f",
    "order-p2sf": "697c4f0d5767",
    "order-p2sf-ratio": "b79fd27565ba",
    "order-bsld-ahead": "9f6b3a592c5f",
    "order-af-ahead": "d8b3912fce2b",
    "order-stretch": "6d2c8223c1af",
}
"""Digests of the schedules of policies. A change that is meant renews them, and the figures of the studies."""


def test_policies_schedule_as_ever() -> None:
    """Starts, nodes and promises on days on which jobs are cancelled, nodes go, and estimates are wrong."""
    days = [hard_day(seed, jobs=28) for seed in range(12)]
    found = {}
    for name in KEPT:
        results = [day.replay(name) for day in days]
        rows = [
            [part.tolist() for part in (each.start_s, each.node_of_unit, each.promised, each.corrections, each.ready_s)]
            for each in results
        ]
        found[name] = hashlib.sha256(repr(rows).encode()).hexdigest()[:12]
    assert found == KEPT
