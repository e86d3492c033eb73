"""Cross-references: what the text names."""
