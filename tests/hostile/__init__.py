"""Upstreams that forge: no forged value is served as a fresh one, whatever is forged, wherever it comes from."""
