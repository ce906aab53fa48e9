"""The compiled part of the search of PCP'21."""
