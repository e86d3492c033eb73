"""What every reader shares: page contents, wording of captions and references, links, and assembling a paper."""
