"""Tables: where they are, and their grids of cells."""
