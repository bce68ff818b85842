"""`verdict watch`: a live stream, as a view that draws itself anew, as plain lines, or as the lines that come.

Decisions:
- A stream that breaks off, or whose service stops, is opened again where it stopped, after 1, 2, 4, 8 and 16 seconds
  and then no more, and standard error says so each time: opening one uses up a question. What ends for another reason
  is not opened again by itself, the hour's end included: whoever leaves it running overnight keeps their questions.
- What programs read are the service's own lines, in the order in which they come and as soon as they come. After a cut
  there is a second `open` among them.
- The view is drawn on the terminal's other page, which is left however it ends; what was seen last is written below.
"""
