"""What is said of coins, sectors and the economy in podcasts and videos, and where it is said.

May import rank 0, feeds, wire, storage, upstream, analytics, market and sentiment. Feeds are listed by the operator
(TOML: `[[feed]]` with `id`, `name`, `kind`, `url`, perhaps `language`); fixtures have three of their own, and without
a list nothing is read, and empty answers cost nothing.

**What is read.** RSS 2.0 with `podcast:transcript`, in WebVTT, SubRip, Podcasting 2.0 JSON, HTML, plain text and
Markdown; of an episode's transcripts the one in the feed's language that best tells who speaks and when, the next where
that cannot be read. What is said becomes sentences (`sentences`), these are tagged with coins, sectors and topics of
the economy (`tagging`, whose tables are the published rule), and the best passages are chosen (`highlights`). Nothing
is asked of a model. What is said is text: it is never obeyed or run, what no reader sees is taken out of it, and `<`,
`>` and `&` are escaped where titles, names and quotes leave the service.

**Fetching** (`upstream.feed_fetcher`): as robots.txt says (RFC 9309), once in two seconds a host, for what has
changed, within bounds of size and time, at public addresses alone. YouTube's captions are read for who opts in: there
is no official way, its robots.txt keeps programs out, and that word of the operator's stands in its place, there only.

Decided here:
- A feed is asked every half an hour, five minutes after it failed. Each fails on its own. Its status is of the last
  time: `ok`, `failing`, `blocked` by robots.txt, or `waiting` for the first.
- Episodes of the last 90 days are taken up, twenty of a feed in a round, the newest first, and shown for 400 days.
  Episodes without a certain date, or dated in the future, are left out. What is known is
  never asked for again, over restarts too. A transcript that cannot be read is tried ten times in three and a half
  days, each time after twice as long; three in vain end a round of that feed. Of a feed the newest 2,000 are kept.
- An episode of two feeds is shown once. By guid (of 16 characters or more) or file it is known before it is read, and
  the feed that had it first, or stands first in the list, tells it. By what is said (letters and digits alone, so that
  formats do not matter) it is known after, and the one published first tells it. Should that one go, or not be
  read in five attempts, the other tells it.
- `episodes` of a source are those that were read and that it shows; `lastEpisodeAt` is the newest that it has, even if
  another feed shows it.
- What is said is kept, and tagged again when coins or categories change, or by another version of the service.
- A list is in the order of episodes' dates, the newest first, and of an episode the best passage first. A passage has
  the same `id` wherever the same was said. Filters are exact; `since` takes in the instant itself.
- `as_of` is when a feed last answered, if only that nothing has changed; of one source's highlights, when that one
  did; of a list of sources none of which has answered yet, now. While feeds fail, what is known stands, and grows old.
- What another dataset has (a replay's day before) stands until a feed of this one has been read.
"""
