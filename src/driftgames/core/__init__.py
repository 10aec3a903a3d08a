"""The spine: what every setting shares. Types, checks, units, state, documents, progress."""
