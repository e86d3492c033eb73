"""The graph suite: extraction scored against annotated graphs, and against the papers' own text."""
