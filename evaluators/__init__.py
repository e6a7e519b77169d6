"""Trusted judges: one TypeScript evaluator a game version, and the canary scripts that prove each of them."""
