"""Other people's retrieval systems over the same papers and questions, each in an environment of its own."""
