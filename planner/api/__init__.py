"""What `import planner` offers to scripts: the commands, and the steps that they are made of (docs/python.md)."""
