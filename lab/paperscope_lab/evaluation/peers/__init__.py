"""Other retrieval systems on the same papers and questions, each in its own environment."""
