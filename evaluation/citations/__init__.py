"""Each claim of an answer held against what the page prints where it says to rest."""
