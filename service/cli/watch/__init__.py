"""`verdict watch`: a live stream as a view that redraws itself, as text lines, or as the service's own lines.

Decisions:
- After a connection loss or a service restart the stream is reopened at its cursor, after 1, 2, 4, 8 and 16 seconds,
  and stderr says so each time, because opening a stream uses a question. A stream that ends for another reason, such
  as its limit of one hour, is not reopened.
- Programs get the service's own lines in order, without delay. A reopened stream adds a second `open` line.
- The view uses the terminal's alternate screen. The last state is printed below when it ends.
"""
