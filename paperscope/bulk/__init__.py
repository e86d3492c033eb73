"""Adds many papers on a Ray cluster, with the pipeline of `paperscope.adding` in its workers."""
