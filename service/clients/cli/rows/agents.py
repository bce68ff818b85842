"""Commands for agents."""

from service.clients.cli.command import CONNECTING, Argument, Command

COMMANDS = (
    Command(
        "mcp",
        "serve tools to agents by the Model Context Protocol, over standard input and output or over HTTP",
        "service.clients.mcp.serving:run",
        (
            Argument("--http", "listen on this machine; each caller brings its own API key", kind="flag"),
            Argument("--port", "where to listen with --http (8403)", kind="number", metavar="PORT"),
            Argument("--budget", "most bytes of an answer (24576)", kind="number", metavar="BYTES"),
            Argument("--pay", "pay for calls below the ceilings, without asking; not with --http", kind="flag"),
            *CONNECTING,
        ),
        example="verdict mcp --http",
    ),
)
