"""The pinned definitions and the typed documents and records. Imports nothing of ours."""
