"""What a scenario file may say: a strict loader, layers, models of every section, and errors with file and line."""
