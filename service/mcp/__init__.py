"""The Model Context Protocol: a client's own model reads the library with the reading tools (extra: mcp)."""
