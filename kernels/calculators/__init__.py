"""The calculators as pages: their forms, what was typed, and the address that holds it."""
