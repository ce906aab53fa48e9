"""Metrics of what happened: pure functions of submit, start, runtime and width."""
