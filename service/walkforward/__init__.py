"""Walk-forward: strategies tested on days that were not used to choose their parameters.

May import ranks 0 to 3, never `verdict`. `parameters` and `records` need no numpy; `engine`, `walk` and `gate` do, and
are imported only in the child process or by the command of the operator. Reasons: decisions 11 and 15 in
`docs/decisions`.
"""
