"""The engines that solve docplex models: OR-Tools CP-SAT, and IBM's CP Optimizer in its two editions."""
