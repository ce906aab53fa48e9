"""The study of deadline-based backfilling: some jobs can wait until a deadline, the others need not."""
