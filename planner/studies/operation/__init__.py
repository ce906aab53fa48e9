"""The study of daily operation: what each policy costs and how long jobs wait, with real runtimes and real prices."""
