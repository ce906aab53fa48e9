"""Runs of many days: rolling from one to the next, compared, and studied."""
