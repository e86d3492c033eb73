"""Runs work on untrusted files in child processes with limits of time and memory."""
