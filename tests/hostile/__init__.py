"""A folder, a cache and links that somebody else has prepared: nothing of theirs runs, nothing of theirs changes."""
