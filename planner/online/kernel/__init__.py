"""The compiled core of the replay; nothing in here allocates."""
