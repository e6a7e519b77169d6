"""What did the artifact do? Static analysis, monitors, tape proof and verdicts will live here."""
