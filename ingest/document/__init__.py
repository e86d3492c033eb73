"""Shared by all readers: page contents, wording of captions and references, links, and assembling a paper."""
