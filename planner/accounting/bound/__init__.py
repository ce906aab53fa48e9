"""The bound: a proven upper limit on the profit of any plan that the rules of a day allow."""

from planner.accounting.bound.bound import Bound, profit_bound

__all__ = ["Bound", "profit_bound"]
