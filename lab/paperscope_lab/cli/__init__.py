"""The commands `paperscope eval` and `paperscope ner`, which the product loads by entry points."""
