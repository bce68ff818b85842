"""The parser: a question in words to typed queries, with every word accounted for.

`lexicon` lists the words, `times` reads dates and windows, `chunks` cuts a text into typed pieces, `conditions` joins
pieces to conditions, `grammar` makes queries of a clause, `parse` reads whole conversations and decides on refusals.
Pure functions of the text, the names that are listed, and the present instant.
"""
