"""Transcripts as they are published: bytes in, segments out. Pure; imports only this package and `feeds`.

`decoder` decides by the declared type, then by looking, because files are often served under another's type. Each
format has a file of its own: WebVTT (W3C), SubRip, the JSON and the HTML of the podcast namespace (Podcasting 2.0), and
what people write down (plain text, Markdown). Whatever comes, reading is bounded in bytes, segments and characters, and
text is only ever text: markup is dropped, never followed, run or kept.
"""
