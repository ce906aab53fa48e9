"""The k-th smallest of some values, in place."""

from __future__ import annotations

from planner.compiled import part


@part
def smallest(values, length, rank):
    """The rank-th smallest (from 1) of the first values, which are reordered (Hoare's selection)."""
    low, high, wanted = 0, length - 1, rank - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return values[wanted]


@part
def smallest_by_weight(values, weights, length, rank):
    """The rank-th smallest (from 1) of the first values, each counted as often as it weighs; both are reordered."""
    low, high, wanted = 0, length - 1, rank
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                weights[left], weights[right] = weights[right], weights[left]
                left += 1
                right -= 1
        below = 0
        for place in range(low, right + 1):
            below += weights[place]
        between = 0
        for place in range(right + 1, left):
            between += weights[place]
        if wanted <= below:
            high = right
        elif wanted <= below + between:
            return pivot
        else:
            wanted -= below + between
            low = left
    return values[low]
