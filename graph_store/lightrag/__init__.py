"""LightRAG on the store: its storages read the library at one revision, and an index retrieves through its modes."""
