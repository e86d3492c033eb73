"""Records of papers in catalogues and reference files, and papers that are added by name."""
