"""What every reader shares: drafts, captions' wording, references, links, and assembling a paper from them."""
