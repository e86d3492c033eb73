"""Retrieval quality: the gold evidence of five benchmarks, for our systems and the peers."""
