"""Rows of the table of commands that are written by hand. Each file imports nothing but `command`."""
