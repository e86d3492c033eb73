"""The entries of a bibliography."""
