"""Readers of jobs: SWF traces, and CSV and Parquet tables."""
