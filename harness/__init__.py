"""The appliance: engine, session, replay, scoring, archive, pipeline, fleet and the command line."""

__version__ = "0.1.0"
