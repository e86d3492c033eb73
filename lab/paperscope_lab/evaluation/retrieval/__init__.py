"""Retrieval quality: the gold evidence of five benchmarks, for our systems and the peers."""

__all__: list[str] = []
