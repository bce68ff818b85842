"""The gates of routes. A gate never imports another: `http/build.py` alone puts them in order."""
