"""Types, errors, protocols, settings, model clients and text helpers that all other packages share."""
