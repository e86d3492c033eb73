"""A page as words, lines and columns, upright and free of furniture."""
