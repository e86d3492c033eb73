"""Metrics: pure functions over one question, or over sums of them; each names its source."""
