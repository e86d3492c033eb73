"""Evaluation suites: score Paperscope against gold data, and compare it with other systems."""
