"""The machine, compiled: timelines of its nodes, the earliest start at which a job has room, and the nodes for it.

The searches place jobs on it in a given order; the on-line simulator holds on it what runs and what is reserved.

For a job of U equal units from time t on, every node names its own earliest start with room for one unit, for two at
once, and so on. The U-th smallest of these is the next time at which the job can possibly start; when it is t itself,
the job starts there. No time is stepped through, and no start is passed over.

Three things make it quick. A timeline joins equal neighbours, so full nodes are short. For each stretch of the day the
most free cores of each node are kept, so stretches in which too few nodes have room are passed over at a glance. And
what is learned of one job serves later ones: reservations are only ever added, so a job that asks at least as much
(units, amounts, time, release, power) as an earlier one cannot start before the earliest start found for that one.

Odd units (those outside the job's largest group) are put one by one where they cost the fewest units of that group;
where several of them find no room that way, a table over the nodes decides (`planner.domain.plan`). So the start is
exactly the earliest, except for jobs of so many sizes that the table would be too large.

Cost of one placement: at most O(N (B + log E)) for N nodes, B stretches and E timeline entries per node, times the
rounds until the U-th smallest stands still (one or two as a rule).
"""
