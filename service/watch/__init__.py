"""The content of the live streams: states sampled every five seconds and events, both in the store.

May import ranks 0 to 4. `streams` serves readers. Reasons and limits: decision 16 in `docs/decisions`.
"""
