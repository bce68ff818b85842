"""The table of the operator's commands. They act on the data folder directly, also while the service runs."""

from service.cli.command import CONNECTING, Argument, Command

_JSON = Argument("--json", "print JSON", kind="flag")
_TIERS = ("free", "access", "pro")
_EXPIRES = "when it ends: 90m, 12h, 30d, 52w (never)"
_ADDRESS = Argument("address", "as `wallets list` shows it")

_SERVICE = (
    Command(
        "serve",
        "start the service",
        "service.admin.serve:serve",
        (
            Argument(
                "--workers",
                "worker processes, 1 to 64 (1)",
                default=1,
                metavar="N",
                parse="service.admin.options:workers",
            ),
            Argument("--first-key", "create a `pro` and a `free` key anew, and print how to try them", kind="flag"),
            Argument("--worker", "which of several this process is", kind="number", hidden=True),
            Argument("--listener", "the socket that several share", kind="number", hidden=True),
        ),
        example="verdict serve",
        epilog="service.admin.options:settings",
    ),
    Command(
        "init",
        "start with an empty store in a folder whose store is lost",
        "service.admin.init:make",
        (Argument("--new-store", "confirm that the lost store is given up", kind="flag", required=True),),
        example="verdict init --new-store",
    ),
    Command(
        "usage",
        "show how many questions users have asked",
        "service.admin.usage:show",
        (Argument("--user", "only this user", kind="number", metavar="N"), _JSON),
        example="verdict usage",
    ),
    Command(
        "doctor",
        "check the data folder; exit code 1 on a finding",
        "service.admin.doctor:check",
        (
            Argument("--repair", "repair counters and days; stop the service first", kind="flag", exclusive="what"),
            Argument(
                "--client",
                "check the way from here to the service instead",
                kind="flag",
                exclusive="what",
                run="service.cli.doctor_command:check",
            ),
            Argument(
                "--upstreams",
                "ask every upstream once instead; exit code 1 if a route lacks one",
                kind="flag",
                exclusive="what",
                run="service.admin.upstreams:check",
            ),
            Argument(
                "--health",
                "ask the service that runs here for /healthz instead; exit code 1 if it does not answer",
                kind="flag",
                exclusive="what",
                run="service.admin.health_check:check",
            ),
            *CONNECTING,
            _JSON,
        ),
        example="verdict doctor",
    ),
    Command(
        "backup",
        "copy the database while it is in use",
        "service.admin.store:copy",
        (Argument("out", "file to write; must not exist yet"),),
        example="verdict backup verdict-copy.db",
    ),
    Command(
        "migrate-store",
        "copy all stored data to another, empty store",
        "service.admin.store:move",
        (
            Argument("source", "a data folder, or postgres://user:password@host/name", metavar="FROM"),
            Argument("target", "a data folder without a database, or postgres://…", metavar="TO"),
        ),
        example="verdict migrate-store ./.data postgres://verdict@db.example.org/verdict",
    ),
    Command(
        "record",
        "capture live upstreams as a fixture set",
        "service.admin.record:capture",
        (
            Argument("--out", "folder to write; must be new or empty", metavar="DIR", required=True),
            Argument("coins", "only these coins (all that are listed)", metavar="COIN", many=True),
        ),
        example="verdict record --out recording BTC ETH",
    ),
)

_MINE = "of your own keys at the service that you are signed in to"


def _mine(function: str) -> tuple[Argument, ...]:
    run = f"service.cli.account_commands:{function}"
    return (Argument("--mine", _MINE, kind="flag", run=run), *CONNECTING)


_KEYS = (
    Command(
        "keys create",
        "create a key, shown this once",
        "service.admin.keys:create",
        (
            Argument("--name", "what the key is for", required=True),
            Argument("--tier", "also grant the user this tier", choices=_TIERS),
            Argument("--expires", "when key and grant end: 90m, 12h, 30d, 52w (never)", metavar="30d"),
            Argument("--wallet", "the user who has proven this wallet; made if there is none", metavar="0x…"),
            Argument("--user", "an existing user (a new one)", kind="number", metavar="N"),
            *_mine("create_key"),
            _JSON,
        ),
        example="verdict keys create --name laptop --tier pro",
    ),
    Command(
        "keys list",
        "list all keys, newest first",
        "service.admin.keys:show",
        (Argument("--user", "only this user's", kind="number", metavar="N"), *_mine("list_keys"), _JSON),
        example="verdict keys list",
    ),
    Command(
        "keys revoke",
        "revoke a key at once",
        "service.admin.keys:revoke",
        (Argument("prefix", "the key's display prefix, as `keys list` shows it"), *_mine("revoke_key")),
        example="verdict keys revoke verdict_sk_4kYw0VqG",
    ),
)

_GRANTS = (
    Command(
        "grants add",
        "give a tier to a user or a wallet",
        "service.admin.grants:add",
        (
            Argument("--user", "a user", kind="number", metavar="N", required=True, exclusive="holder"),
            Argument("--wallet", "the user who proves this wallet", metavar="0x…", required=True, exclusive="holder"),
            Argument("--tier", "the tier", choices=_TIERS[1:], required=True),
            Argument("--expires", _EXPIRES, metavar="30d"),
            _JSON,
        ),
        example="verdict grants add --user 1 --tier access --expires 30d",
    ),
    Command(
        "grants list",
        "list all grants, newest first",
        "service.admin.grants:show",
        (_JSON,),
        example="verdict grants list",
    ),
    Command(
        "grants revoke",
        "end a grant at once",
        "service.admin.grants:revoke",
        (Argument("grant", "the grant's id, as `grants list` shows it", kind="number", metavar="ID"),),
        example="verdict grants revoke 1",
    ),
)

_PAYMENTS = (
    Command(
        "payments list",
        "list payments, newest first",
        "service.admin.payments:show_all",
        (
            Argument("--user", "only this user's", kind="number", metavar="N"),
            Argument(
                "--state",
                "only these",
                choices=("settling", "settled", "delivered", "failed"),
                metavar="STATE",
            ),
            _JSON,
        ),
        example="verdict payments list",
    ),
    Command(
        "payments show",
        "show one payment, and its receipt",
        "service.admin.payments:show",
        (Argument("payment", "its id, as `payments list` shows it", metavar="ID"), _JSON),
        example="verdict payments show rcp_4kYw0VqGmTtq2fA1zZ9bXc",
    ),
    Command(
        "payments reconcile",
        "ask now how payments ended; exit code 1 if one stays open",
        "service.admin.payments:reconcile",
        (Argument("payment", "only this one (all whose end is not known)", metavar="ID", optional=True), _JSON),
        example="verdict payments reconcile",
    ),
    Command(
        "payments resume",
        "take payments again through a facilitator that was stopped",
        "service.admin.payments:resume",
        (_JSON,),
        example="verdict payments resume",
    ),
    Command(
        "payments export",
        "print every receipt, oldest first",
        "service.admin.payments:export",
        (
            Argument("--csv", "comma-separated, without signatures (the default)", kind="flag", exclusive="as"),
            Argument("--json", "print JSON, each receipt with its signature", kind="flag", exclusive="as"),
        ),
        example="verdict payments export",
    ),
    Command(
        "payments verify",
        "say who signed a saved receipt, without a service; exit code 1 if another",
        "service.admin.receipt:verify",
        (
            Argument("file", "an answer of /api/receipts/{id}; - is standard input"),
            Argument("--signer", "who must have: `receiptSigner` of the service's manifest", metavar="0x…"),
        ),
        example="verdict payments verify receipt.json",
    ),
)

_WALLETS = (
    Command(
        "wallets add",
        "watch a wallet",
        "service.admin.wallets:add",
        (
            Argument("address", "0x and 40 hexadecimal digits"),
            Argument("--label", "what it is called", metavar="TEXT"),
            Argument("--kind", "what it is, in a word: exchange, fund", metavar="TEXT"),
        ),
        example="verdict wallets add 0x28C6c06298d514Db089934071355E5743bf21d60 --label Binance --kind exchange",
    ),
    Command(
        "wallets remove",
        "watch a wallet no longer",
        "service.admin.wallets:remove",
        (_ADDRESS,),
        example="verdict wallets remove 0x28C6c06298d514Db089934071355E5743bf21d60",
    ),
    Command(
        "wallets label",
        "call a watched wallet something else",
        "service.admin.wallets:label",
        (_ADDRESS, Argument("label", "what it is called")),
        example="verdict wallets label 0x28C6c06298d514Db089934071355E5743bf21d60 'Binance 14'",
    ),
    Command(
        "wallets list",
        "list the watched wallets, by address",
        "service.admin.wallets:show",
        (_JSON,),
        example="verdict wallets list",
    ),
)

_VERDICTS = (
    Command(
        "verify",
        "recompute a saved verdict, without a service; exit code 1 where it differs",
        "service.admin.verify:verify",
        (Argument("file", "an answer of /api/cli/signal; - is standard input"),),
        example="verdict verify sol.json",
    ),
    Command(
        "walkforward run",
        "walk the recorded market forward, and say what came of it",
        "service.admin.walkforward:run",
        (
            Argument("--recordings", "a folder of recorded candles and funding; keeps nothing", metavar="DIR"),
            Argument(
                "--scheme",
                "train on all days before a fold, or on the last 365 (anchored)",
                choices=("anchored", "rolling"),
                default="anchored",
            ),
            _JSON,
        ),
        example="verdict walkforward run",
    ),
)

COMMANDS = (*_SERVICE[:1], *_KEYS, *_GRANTS, *_PAYMENTS, *_WALLETS, *_SERVICE[1:], *_VERDICTS)
