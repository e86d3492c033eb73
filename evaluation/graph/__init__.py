"""What extraction draws from papers, held against graphs that people drew, and against the papers' own words."""
