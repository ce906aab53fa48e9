"""The compiled part of cp/: the search of the dispatcher PCP'21."""
