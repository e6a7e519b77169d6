"""For all tests: hypothesis judges behaviour, never speed (a busy machine must not fail a property)."""

from hypothesis import HealthCheck, settings

settings.register_profile("playproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playproof")
