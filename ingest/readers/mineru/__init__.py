"""Reads papers from the folder that MinerU writes, and runs MinerU."""
