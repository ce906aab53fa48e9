"""Dispatchers for machines with node classes and several resources: HCP'19, PCP'19, PCP'21 and PCP'21s.

Each plans the waiting jobs of a scheduling round for the least total slowdown, and has its own way with nodes.
"""
