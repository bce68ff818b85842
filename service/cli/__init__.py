"""The command line: every command is a row of a table, from which Click builds parser, help and completions.

- `commands` is the table: the commands of API routes are read from `catalogue.json` (written by `make commands` from
  the offers), the others stand there; `service.admin.commands` has those of operators. `root` makes a Click command of
  a row when it is used; `main` runs it. The module with the command's function is loaded last.
- A command of a route is named by the offer's id with spaces for dots. An `action` parameter becomes a further word
  (`verdict regime history BTC`).
- Output is text on a terminal and JSON elsewhere. Commands that produce one value (`config get`, a new key) print only
  that value. Errors go to stderr, for programs as the service's envelope. Commands raise; only `error_report` prints
  errors and knows their exit codes.
- On a narrow terminal text is cut, numbers never. If that is not enough, a table row becomes a list.
- A view that does not know an answer (of a newer service) falls back to names and values: the answer has used up a
  question.
- Exit codes: 0 done; 1 usage error, bad request, or a finding; 2 authentication; 3 quota or payment; 4 other refusal;
  5 upstream or service; 6 no connection; 7 a defect of this program; 130 interrupted.
"""
