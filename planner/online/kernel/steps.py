"""The steps of the clock one by one, for a replay in which Python takes part between them."""

from __future__ import annotations

from planner.compiled import kernel_of, text_of
from planner.online.kernel import clock, queue_order

next_second = kernel_of(clock.next_second)
entries_needed = kernel_of(clock.entries_needed)
open_second = kernel_of(clock.open_second)
is_arriving = text_of(clock.is_arriving)
take_arrival = kernel_of(clock.take_arrival)
is_ending = text_of(clock.is_ending)
take_completion = kernel_of(clock.take_completion)
reorder = kernel_of(queue_order.reorder)
schedule = kernel_of(clock.schedule)
is_due = kernel_of(clock.is_due)
run_list_round = kernel_of(clock.run_list_round)
is_another_due = kernel_of(clock.is_another_due)
sort_by = kernel_of(queue_order.sort_by)
