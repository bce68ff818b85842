"""Commands by which a person becomes somebody to a service."""

from service.clients.cli.command import CONNECTING, Argument, Command

COMMANDS = (
    Command(
        "login",
        "sign in with a wallet, or keep an API key",
        "service.clients.cli.signin.login:run",
        (
            Argument(
                "--keystore",
                "sign with this file (Web3 Secret Storage); its password is asked for, or VERDICT_KEYSTORE_PASSWORD. "
                "Without it VERDICT_WALLET_KEY signs if it is set, else the browser's wallet",
                metavar="FILE",
                apart="way",
            ),
            Argument("--paste", "finish with what the page shows, if it cannot return here", kind="flag", apart="way"),
            Argument("--token", "keep an API key, which is asked for or read from stdin", kind="flag", apart="way"),
            Argument("--no-browser", "print the page's address, and open nothing", kind="flag"),
            Argument("--json", "print JSON, as is done where the output is no terminal", kind="flag", apart="form"),
            *CONNECTING,
        ),
        example="verdict login",
    ),
    Command(
        "logout",
        "end the session and forget it",
        "service.clients.cli.signin.logout:run",
        CONNECTING,
        example="verdict logout",
    ),
)
