"""Headline numbers, decided from records alone."""
