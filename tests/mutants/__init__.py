"""`make mutants`: break a room in small ways and count what its tests notice.

Decided:

- A mutator of our own. mutmut leaves out every decorated function and all that stands outside of functions, and so the
  SQL, which decides most here; and it replaces functions by trampolines in a copy of the tree.
- A mutant is made in a fork of a process that has collected the room's tests: the code of a living function is
  exchanged, or the value of a constant wherever anybody has it. No mutant is ever written to a file.
- A mutant is tried with the tests that run through its lines, the quickest first, until one fails. Tests that start
  processes are left out, for those do not know which mutant they are; and of the two stores SQLite's is used.
- What only people read, text of more than one word, is left as it is: a test would say it a second time, and no more.
- There are thousands of mutants: each room draws some of them, by a seed.
"""
