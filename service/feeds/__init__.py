"""Feeds and what they link to, read past blemishes: items of RSS and Atom, dates, text, lists in JSON.

May import rank 0. Pure. What cannot be read is left out alone, and counted.
"""
