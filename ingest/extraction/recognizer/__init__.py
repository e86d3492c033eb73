"""Recognizes the names in a text by a small trained tagger: loads it and runs it. The laboratory trains it."""
