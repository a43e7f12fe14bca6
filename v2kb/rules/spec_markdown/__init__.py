"""Stage-1 specs as markdown: reading one with a report of where each line went, and writing one."""
