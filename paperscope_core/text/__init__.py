"""Text helpers: words, sentences, acronyms."""
