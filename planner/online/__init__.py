"""The on-line simulator: a trace replayed under a policy that decides as jobs arrive."""
