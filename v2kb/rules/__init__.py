"""Domain law of v2kb: pure functions, standard library only, no Django, no I/O."""
