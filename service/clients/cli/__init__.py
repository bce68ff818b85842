"""The command line: every command is a row of a table, from which parser, help, completions and docs are made.

Decisions:
- The table imports nothing, so that `verdict --help` and completions cost little more than the interpreter's start; a
  command's own module is loaded once it is known. `arguments` reads what was typed: `argparse`, which a test holds it
  to, takes as long to load as all else that a command about a coin does before it asks.
- A command about an offer is named by the offer's id, its dots written as spaces; what an `action` parameter chooses is
  a further word (`verdict regime history BTC`). `catalogue` is made from the offers (`make commands`), and a test holds
  it to them.
- People read aligned text, programs read JSON: the output is JSON as soon as it is no terminal, also of `--mine` and
  `--client`, which ask a service. What gives one value (`config get`, a new key) prints that value alone, wherever it
  goes. Errors go to stderr, for programs as the envelope that the service sent. Commands raise; `failure` alone tells,
  and knows the exit codes.
- On a narrow screen words give way, figures never: half a figure is a wrong one. Where that is not enough, what a row
  of a table holds stands below itself.
- A view that does not know an answer (a newer service's) gives way to names and values: a question was paid for it.
- Exit codes: 0 done; 1 usage or a bad request, or a finding of a command that looks for some; 2 who you are; 3 quota or
  payment; 4 another refusal; 5 upstream or service; 6 no connection; 7 a defect here; 130 interrupted.
"""
