"""The steps of the clock one by one, for a replay that asks and teaches a predictor between them."""

from __future__ import annotations

from planner.compiled import kernel_of
from planner.online.kernel import clock, queue_order

next_second = kernel_of(clock.next_second)
entries_needed = kernel_of(clock.entries_needed)
open_second = kernel_of(clock.open_second)
is_arriving = kernel_of(clock.is_arriving)
take_arrival = kernel_of(clock.take_arrival)
is_ending = kernel_of(clock.is_ending)
take_completion = kernel_of(clock.take_completion)
reorder = kernel_of(queue_order.reorder)
schedule = kernel_of(clock.schedule)
