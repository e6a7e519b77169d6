"""The runs/ folder: atomic writes, key removal, sealed parts, records."""
