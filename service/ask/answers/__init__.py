"""Text of results: short templates whose every number is a value of a result, formatted by its unit."""
