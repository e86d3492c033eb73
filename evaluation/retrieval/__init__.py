"""Whether what answers a question is found: the gold evidence of five benchmarks, ours and peers side by side."""

__all__: list[str] = []
