"""Wallets that are watched: who they are, and which tokens moved in and out of them on one chain.

May import rank 0, wire, storage, upstream, ethereum and market. Nodes are asked by JSON-RPC (`chain`, `nodes`); a range
of blocks is read in one piece (`reading`), held against what is known and written down (`scan`, `ledger`); the service
reads it again (`store`). Who is watched is in the operator's file and in what was changed by command (`watchlist`).

Decided here:
- **One chain**: that of the first node that says its id. A node of another chain is left out, and named in the log. The
  next node is asked where one fails; who answered last is asked first. A node whose newest block is five minutes old is
  asked only where no other is better.
- **Every minute** all watched wallets are looked through up to three blocks below the head; one that is new by itself,
  from 7,200 blocks (a day) below that on. Each wallet has its own place, so failures, additions and restarts lose
  nothing. One that is not watched any more is forgotten a day later, and loses nothing if it is put in again before.
- **Ranges** of at most 2,000 blocks; half as many after each failure, whatever it was, twice as many after a success.
- **A range is of one piece**: its last block is asked for before and after; if it is the same, so is all below. What is
  found, and how far was looked, is written in one transaction, which fails if somebody else has moved the wallets.
- **Forks**: each round compares the block at which looking stopped with the chain, and looks through the 64 blocks up
  to it once more; each block of an answer must have the hash that is known. Where one has not, the newest known
  block that the chain still holds is searched for by halving, however far down; all above it is forgotten and read
  again. A fork deeper than 64 blocks is believed only if no other node still holds the old block.
- **Logs that come late**, as from several nodes behind one address, are found by that second look. What was once seen
  in a block that still stands stays, though a node leaves it out later.
- **What counts**: `Transfer` with three topics and one word of data, as ERC-20's, and not taken back (`removed`). One
  between two watched wallets, or from one to itself, is two movements. What a node was not asked for, and what
  contradicts itself or its blocks, is that node's failure.
- **Values** in USD go by a table of contracts (`prices`) and the coin's price when the movement was first seen.
- **Symbols** are what a contract says, where that is one: tokens are sent around to have sentences and letters that
  look like others read as theirs, and those have none here. One that no node has an answer of is asked again after an
  hour; fifty contracts a round at most.
- **As of** is the time of the newest block that was read. Movements are kept for 30 days by the chain's own time. Data
  of another origin are cleared; those of another chain stay, and are not shown.
"""
