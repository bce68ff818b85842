"""Live streams: new states, sent to all subscribers as lines that are encoded once. May import rank 0 and wire.

- A stream is a ring buffer of its newest states, numbered without gaps. A subscriber has a position in it and no
  queue, so a slow subscriber costs nothing; one that falls behind the buffer receives a gap line.
- A line is encoded when the first subscriber needs it. Subscribers at the same position share the joined lines. New
  states wake subscribers in slices, so that other work runs between them.
- **What a subscriber receives depends only on the buffer, its options and its cursor.** A state passes if its number
  crosses a multiple of the interval; a diff is relative to the state sent before. A resumed subscriber therefore
  receives the same bytes as an uninterrupted one, on any process.
- A **cursor** points after a sent state, or before one that will be sent whole. A diff needs its base state: with diff,
  a cursor whose state has left the buffer is too old. A cursor ahead of the buffer may come from another process; it is
  unknown if its state does not arrive within five seconds.
- After a gap, a stream of states continues with its newest state, whole. A stream of events continues with the oldest
  stored event, or with new events where the cursor was ahead.
- A subscriber assumes that its upstream is live until a heartbeat says otherwise.
- The last lines of an ended subscription contain no new data: what it missed follows the cursor of its close line.
"""
