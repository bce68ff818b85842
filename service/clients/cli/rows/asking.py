"""Commands that are told as it comes: a question, and what is live."""

from service.clients.cli.command import CONNECTING, PAYING, Argument, Command

COMMANDS = (
    Command(
        "ask",
        "ask a question in plain words",
        "service.clients.cli.ask.command:run",
        (
            Argument("question", "what you want to know; - reads it from standard input", many=True),
            Argument(
                "--archetype",
                "for whom the answer is written (base)",
                choices=("base", "trader", "analyst", "risk-manager", "explainer"),
            ),
            Argument("--raw", "what was found, as JSON, without prose", kind="flag", apart="form"),
            Argument("--explain", "how the question was read: its typed queries", kind="flag", apart="form"),
            Argument(
                "--json",
                "the answer as JSON with what it rests on, as is done where the output is no terminal",
                kind="flag",
                apart="form",
            ),
            *CONNECTING,
            *PAYING,
        ),
        example='verdict ask "How is SOL doing?"',
        offer="question",
    ),
    Command(
        "watch",
        "follow one of six live streams; opening one uses up a question",
        "service.clients.cli.watch.command:run",
        (
            Argument(
                "stream",
                "which",
                choices=("funding", "regime", "sentiment", "prices", "alerts", "crossings"),
                metavar="STREAM",
            ),
            Argument("--interval", "seconds between events, 10 to 300 (30)", kind="number", metavar="S"),
            Argument("--max", "end after so many events (0: never)", kind="number", metavar="N"),
            Argument("--diff", "after the first event only what changed", kind="flag"),
            Argument("--cursor", "go on after this cursor, leaving out nothing", metavar="CURSOR"),
            Argument(
                "--json",
                "print the lines as they come, as is done where the output is no terminal",
                kind="flag",
                apart="form",
            ),
            Argument("--ndjson", "the same", kind="flag", apart="form"),
            *CONNECTING,
            PAYING[0],
        ),
        example="verdict watch prices",
        offer="watch",
    ),
)
