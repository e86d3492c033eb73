"""Display equations and fractions, as lines of text."""
