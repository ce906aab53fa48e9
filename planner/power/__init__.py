"""What jobs draw, learned from jobs that have finished: profiles, decaying means, limits, and errors in time order."""
