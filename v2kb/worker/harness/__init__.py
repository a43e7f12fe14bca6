"""The measuring harness. The parent makes inputs, compares outputs and owns every fact that a verdict rests on."""
