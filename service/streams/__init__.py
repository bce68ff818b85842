"""Live streams: what is new, told to everybody who reads along, in lines that are made once for all of them.

May import rank 0 and wire.

Decided here:
- A stream is a **ring**: its newest states in a row without a hole, numbered for ever by who keeps them. A reader has
  a place in it and no queue. So a thousand readers cost a thousand places, one that takes nothing costs nobody
  anything, and whoever falls off the ring is told so by a gap.
- A line is encoded when the first reader comes to it, and what lies before readers at the same place is joined once for
  all of them. States that come within one turn of the loop wake readers once, a slice of them in a turn, so that nobody
  else waits for a thousand readers.
- **What a reader is told is a pure function of the ring, its terms and its cursor**: a state is let through where its
  number passes a multiple of the interval, and a diff is taken against the state that the same reader was told before.
  So a reader that was cut and resumes sees what it would have seen uncut, to the byte, on any process.
- A **cursor** stands after a state that was told, or before one that is to be told whole (of a stream of states, as
  long as nothing of it was told). A diff needs the state it is taken against: with diff, a cursor whose state is not
  kept any more is too old, though everything after it be kept. A cursor that lies ahead was perhaps written by another
  process a moment ago: it is unknown only if its state has not come within five seconds.
- Behind a gap a stream of states goes on with its newest, whole; happenings with the oldest kept, or with what is new
  where the cursor lay ahead, since what a restored store told anew is not to be told apart from what it told before.
- A reader takes its upstream to feed until it hears otherwise: it is told at once that it does not, also when it joins.
- The last lines of an ended reader hold nothing new: what it missed lies behind the cursor of its close line.
"""
