"""What is given to people who want to run Verdict and nothing else: one file, its checksum, what it is made of.

`python -m release.build` (that is `make dist`) writes `dist/verdict`, `dist/SHA256SUMS` and `dist/verdict.cdx.json`.
`verdict.service` is how systemd keeps it, with `verdict-operator` for the commands of whoever runs it; `Containerfile`
is how a container does.

Decided:

- The file is an archive made by shiv: what `requirements.lock` names, by hash and from wheels only, then `service` and
  the recording in `fixtures/upstream`, laid out as in a clone, so that the code finds its data the same way.
- Byte code is in it, and is not compared with its source: a first start has to unpack, but not to compile, and
  `PYTHONDONTWRITEBYTECODE` makes no start slower.
- It is for the Python and the system that made it, for wheels are: `door` says so in a line where it is another.
- It unpacks once, in the cache folder of whoever starts it, under a name made of its content, so that versions stand
  beside each other: going back is starting the former file. What is unpacked is used without opening the file again.
- The same commit, Python and lock make the same bytes. Whatever `pip` notes about its own run is left out for that.
- May import `service` for its version only; it is no part of what runs.
"""
