"""Running text: front matter, headings, paragraphs, footnotes, listings."""
