"""Settings: the only reader of the environment, one frozen struct that is handed down."""

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta
from platformdirs import user_data_path

_PREFIX: Final = "VERDICT_"
_KEY_PREFIX: Final = re.compile(r"[a-z0-9]{1,20}_sk_\Z")
_URL: Final = re.compile(r"https?://[^/\s]+\Z")
_API: Final = re.compile(r"https?://[^/\s?#]+(?:/[^\s?#]*)?\Z")
_KEY: Final = re.compile(r"[!-~]{1,200}\Z")
_TOKEN: Final = re.compile(r"[!-~]{1,4096}\Z")
_SMTP: Final = re.compile(r"smtps?://(?:[^\s/@]+@)?[^\s/?#@]+\Z")
_MAIL: Final = re.compile(r"[^\s@<>,]{1,64}@[^\s@<>,]{1,253}\Z")
_RECIPIENT: Final = re.compile(r"[^\s@<>,]{0,64}@[^\s@<>,]{1,253}\Z")
_STORE: Final = re.compile(r"postgres(?:ql)?://[^\s]*/[^\s/?#]+(?:\?[^\s#]*)?\Z")
_HOST: Final = re.compile(r"(?:[\w-]{1,63}(?:\.[\w-]{1,63})*|\[[0-9A-Fa-f:.]+\])\Z")
_ORIGIN: Final = re.compile(r"(?:\*|[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)\Z")
NOBODY: Final = "0x000000000000000000000000000000000000dEaD"
"""Burn address: the payee until the operator sets one."""

_PRIVATE_KEY: Final = re.compile(r"0x[0-9a-fA-F]{64}\Z")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}\Z")
UPSTREAMS: Final = ("hyperliquid", "binance", "coingecko", "alternative", "coindesk", "cointelegraph")
"""Data sources, by the names in errors, logs and metrics."""

_CLIENT_SETTINGS: Final = frozenset({"KEYSTORE_PASSWORD", "TOKEN", "URL", "WALLET_KEY"})
_FIXTURES: Final = Path(__file__).resolve().parent.parent / "fixtures" / "upstream"


class SettingsError(ValueError):
    """An invalid setting; the message names the variable and the values it takes."""


class Secret:
    """A secret text; its representation does not show it.

    Args:
        text: The secret.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return "Secret(…)"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator may choose. Field `x_y` is read from `VERDICT_X_Y`; the descriptions are the documentation."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(description="port to listen on; 0 takes a free one")] = 8402
    tls_cert: Annotated[Path | None, Meta(description="certificate chain (PEM): serve HTTPS")] = None
    tls_key: Annotated[Path | None, Meta(description="private key of the certificate (PEM)")] = None
    public_url: Annotated[str | None, Meta(description="address callers use, when behind a proxy")] = None
    trusted_proxies: Annotated[tuple[str, ...], Meta(description="proxies whose X-Forwarded-* are trusted")] = ()
    hosts: Annotated[tuple[str, ...], Meta(description="Host names to answer for; empty: any")] = ()
    cors_origins: Annotated[tuple[str, ...], Meta(description="origins allowed by CORS; *: all")] = ()
    fast_path: Annotated[
        Literal["on", "off"], Meta(description="answer GETs from memory without an ASGI task: on or off")
    ] = "on"
    pages: Annotated[Literal["on", "off"], Meta(description="HTML pages at /: on or off")] = "on"
    rate_per_minute: Annotated[int, Meta(description="requests a minute a credential")] = 600
    rate_burst: Annotated[int, Meta(description="requests a credential may make at once")] = 300
    connections_per_address: Annotated[
        int, Meta(description="connections an address may hold open; trusted proxies and loopback may hold more")
    ] = 256
    idle_timeout: Annotated[int, Meta(description="seconds a connection may wait for a request, 5 to 600")] = 75
    free_accounts: Annotated[int, Meta(description="new accounts with free questions a network may make a UTC day")] = 5
    free_ipv4_bits: Annotated[int, Meta(description="leading bits of an IPv4 address that name such a network")] = 24
    free_ipv6_bits: Annotated[int, Meta(description="leading bits of an IPv6 address that name such a network")] = 56
    data_dir: Annotated[Path, Meta(description="folder of verdict.db and secrets.toml")] = msgspec.field(
        default_factory=lambda: user_data_path("verdict", appauthor=False)
    )
    store: Annotated[
        Secret | None, Meta(description="postgres:// address of a store for several machines; unset: SQLite")
    ] = None
    source: Annotated[
        Literal["fixtures", "live"], Meta(description="fixtures: recorded upstreams; live: the real ones")
    ] = "live"
    replay: Annotated[
        Literal["shifted", "frozen"], Meta(description="fixtures' time; shifted: moved to today; frozen: kept")
    ] = "shifted"
    fixtures_dir: Annotated[Path, Meta(description="folder of recorded upstreams")] = _FIXTURES
    hyperliquid_url: Annotated[str, Meta(description="Hyperliquid's API")] = "https://api.hyperliquid.xyz"
    binance_url: Annotated[str, Meta(description="Binance's USD-M futures API")] = "https://fapi.binance.com"
    coingecko_url: Annotated[str, Meta(description="CoinGecko's API")] = "https://api.coingecko.com"
    coingecko_key: Annotated[Secret | None, Meta(description="CoinGecko demo key, if you have one")] = None
    alternative_url: Annotated[str, Meta(description="the Fear & Greed index")] = "https://api.alternative.me"
    coindesk_url: Annotated[str, Meta(description="CoinDesk, for its news feed")] = "https://www.coindesk.com"
    cointelegraph_url: Annotated[str, Meta(description="Cointelegraph, for its news feed")] = (
        "https://cointelegraph.com"
    )
    anonymous: Annotated[
        Literal["login", "pay"],
        Meta(description="callers without a token; login: 403; pay: a priced route answers 402 and needs no account"),
    ] = "login"
    key_prefix: Annotated[str, Meta(description="what API keys begin with; ends in _sk_")] = "verdict_sk_"
    metrics_port: Annotated[int, Meta(description="port of /metrics; 0: off; worker n adds n")] = 0
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="lowest level that is logged: debug, info, warning, error"),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "text"], Meta(description="form of logs: json, text, or auto: text on a terminal")
    ] = "auto"
    drain_seconds: Annotated[int, Meta(description="seconds that a stop waits for open responses, 0 to 9")] = 8
    network: Annotated[
        Literal["eip155:84532", "eip155:8453"],
        Meta(description="chain of payments: eip155:84532 (Base Sepolia), eip155:8453 (Base)"),
    ] = "eip155:84532"
    pay_to: Annotated[str, Meta(description="address that payments go to")] = NOBODY
    settlement: Annotated[
        Literal["ledger", "remote", "chain"],
        Meta(description="ledger: payments are checked and recorded, nothing moves (testnets); remote; chain"),
    ] = "ledger"
    facilitator_url: Annotated[str | None, Meta(description="x402 facilitator that settles, where remote")] = None
    facilitator_token: Annotated[Secret | None, Meta(description="bearer token of the facilitator, if required")] = None
    cdp_key_id: Annotated[str | None, Meta(description="id of a CDP API key, for Coinbase's facilitator")] = None
    cdp_key_secret: Annotated[Secret | None, Meta(description="secret of that key (Ed25519 base64 or EC PEM)")] = None
    rpc_url: Annotated[
        str | None, Meta(description="JSON-RPC of the chain; where remote, the network's public endpoint if unset")
    ] = None
    operator_key: Annotated[
        Secret | None, Meta(description="private key that pays gas, where chain: 0x and 64 hex")
    ] = None
    operator_keystore: Annotated[Path | None, Meta(description="or a keystore file (Web3 secret storage v3)")] = None
    operator_password: Annotated[Secret | None, Meta(description="password of the keystore file")] = None
    gas_cap_gwei: Annotated[int, Meta(description="maximum price of a unit of gas, in gwei")] = 20
    confirmations: Annotated[int, Meta(description="blocks a settlement must be deep, its own included")] = 1
    ask_default: Annotated[
        Literal["text", "json"], Meta(description="how questions are answered whose Accept names no form: text or json")
    ] = "text"
    llm_url: Annotated[
        str | None,
        Meta(description="OpenAI-compatible API whose model writes the prose of answers; unset: no model is asked"),
    ] = None
    llm_model: Annotated[str | None, Meta(description="name of the model")] = None
    llm_key: Annotated[Secret | None, Meta(description="bearer token of the model's API, if required")] = None
    llm_seconds: Annotated[int, Meta(description="how long a model may take for an answer, in seconds")] = 20
    llm_tokens: Annotated[int, Meta(description="most tokens that a model may write for an answer")] = 800
    llm_daily_tokens: Annotated[
        int, Meta(description="most tokens, read and written, that a model may use in a UTC day; then none is asked")
    ] = 1_000_000
    transcript_feeds: Annotated[
        Path | None, Meta(description="TOML file of podcast and video feeds to read; fixtures have theirs")
    ] = None
    youtube_captions: Annotated[
        Literal["off", "on"], Meta(description="read captions of YouTube videos (no official API): off or on")
    ] = "off"
    wallets_file: Annotated[
        Path | None,
        Meta(description="TOML file of wallets to watch, beside `verdict admin wallets add`; fixtures have theirs"),
    ] = None
    wallets_rpc: Annotated[
        tuple[Secret, ...], Meta(description="JSON-RPC endpoints for watched wallets; the next is used if one fails")
    ] = (
        Secret("https://eth.drpc.org"),
        Secret("https://rpc.mevblocker.io"),
        Secret("https://eth.llamarpc.com"),
        Secret("https://ethereum-rpc.publicnode.com"),
    )

    alert_targets: Annotated[
        Literal["public", "any"],
        Meta(description="where alerts may be sent; public: https to public addresses; any: also to your own network"),
    ] = "public"
    alert_mail_to: Annotated[
        tuple[str, ...], Meta(description="who may be sent alerts by e-mail: addresses, or @domain; empty: nobody")
    ] = ()
    smtp_url: Annotated[
        Secret | None, Meta(description="mail server of alerts: smtps://user:password@host, or smtp:// with STARTTLS")
    ] = None
    smtp_from: Annotated[str | None, Meta(description="address that alerts are sent from")] = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings out of an environment.

        Args:
            environ: Usually `os.environ`. An empty value counts as unset.

        Returns:
            The settings, checked.

        Raises:
            SettingsError: If a variable is unknown, of the wrong type, or unusable beside the others.
        """
        given = {
            name.removeprefix(_PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _CLIENT_SETTINGS and value
        }
        unknown = given.keys() - {field.name for field in msgspec.structs.fields(cls)}
        if unknown:
            raise SettingsError(f"{variable(min(unknown))} is not a setting. `verdict serve --help` lists them.")
        wanted = {name: _split(name, value) for name, value in given.items()}
        try:
            settings = msgspec.convert(wanted, cls, strict=False, dec_hook=_decode_hook)
        except msgspec.ValidationError as error:
            name = str(error).partition(" - at `$.")[2].rstrip("`")
            raise SettingsError(f"{variable(name)} takes {takes(name)}, not {given[name]!r}.") from error
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse combinations that cannot work.

        Raises:
            SettingsError: Naming the variable.
        """
        _check_range("PORT", self.port, 0, 65_535)
        _check_range("METRICS_PORT", self.metrics_port, 0, 65_535)
        for name in ("RATE_PER_MINUTE", "RATE_BURST", "CONNECTIONS_PER_ADDRESS"):
            _check_range(name, getattr(self, name.lower()), 1, 1_000_000_000)
        _check_range("IDLE_TIMEOUT", self.idle_timeout, 5, 600)
        _check_range("FREE_ACCOUNTS", self.free_accounts, 0, 1_000_000_000)
        _check_range("FREE_IPV4_BITS", self.free_ipv4_bits, 8, 32)
        _check_range("FREE_IPV6_BITS", self.free_ipv6_bits, 16, 128)
        _check_range("DRAIN_SECONDS", self.drain_seconds, 0, 9)
        if bool(self.tls_cert) != bool(self.tls_key):
            raise SettingsError("VERDICT_TLS_CERT and VERDICT_TLS_KEY go together. Set both or neither.")
        if not _KEY_PREFIX.match(self.key_prefix):
            raise SettingsError("VERDICT_KEY_PREFIX takes lower-case letters and digits and must end in _sk_.")
        self._check_lists()
        if self.store and not _STORE.match(self.store.text):
            raise SettingsError(
                "VERDICT_STORE takes an address such as postgres://verdict:password@db.example.org/verdict."
            )
        if not _ADDRESS.match(self.pay_to):
            raise SettingsError("VERDICT_PAY_TO takes an EVM address: 0x and 40 hexadecimal digits.")
        self._check_upstreams()
        self._check_settlement()
        self._check_model()
        self._check_wallets()
        self._check_mail()
        if self.public_url and not _URL.match(self.public_url):
            raise SettingsError("VERDICT_PUBLIC_URL takes a scheme and a host, such as https://api.example.org.")

    def _check_upstreams(self) -> None:
        for upstream in UPSTREAMS:
            if not _API.match(self.url_of(upstream)):
                raise SettingsError(
                    f"{variable(f'{upstream}_url')} takes a scheme and a host, such as https://api.example.org."
                )
        if self.coingecko_key and not _KEY.match(self.coingecko_key.text):
            raise SettingsError("VERDICT_COINGECKO_KEY takes printable characters without spaces.")

    def _check_settlement(self) -> None:
        _check_range("GAS_CAP_GWEI", self.gas_cap_gwei, 1, 100_000)
        _check_range("CONFIRMATIONS", self.confirmations, 1, 100)
        for name in ("facilitator_url", "rpc_url"):
            if getattr(self, name) and not _API.match(getattr(self, name)):
                raise SettingsError(f"{variable(name)} takes a scheme and a host, such as https://x402.example.org.")
        self._check_facilitator_keys()
        if self.settlement == "ledger":
            if self.network == "eip155:8453":
                raise SettingsError(
                    "VERDICT_SETTLEMENT=ledger moves no money, so it takes no mainnet. Set remote or chain."
                )
            return
        if self.pay_to == NOBODY:
            raise SettingsError(
                f"VERDICT_PAY_TO must name your address, because VERDICT_SETTLEMENT={self.settlement} moves real money."
            )
        if self.settlement == "remote" and not self.facilitator_url:
            raise SettingsError("VERDICT_SETTLEMENT=remote needs VERDICT_FACILITATOR_URL.")
        if self.settlement == "chain":
            self._check_operator()

    def _check_facilitator_keys(self) -> None:
        if bool(self.cdp_key_id) != bool(self.cdp_key_secret):
            raise SettingsError("VERDICT_CDP_KEY_ID and VERDICT_CDP_KEY_SECRET go together. Set both or neither.")
        if self.facilitator_token and not _TOKEN.match(self.facilitator_token.text):
            raise SettingsError("VERDICT_FACILITATOR_TOKEN takes printable characters without spaces.")
        if self.facilitator_token and self.cdp_key_id:
            raise SettingsError("VERDICT_FACILITATOR_TOKEN and VERDICT_CDP_KEY_ID exclude each other. Set one of them.")

    def _check_operator(self) -> None:
        if not self.rpc_url:
            raise SettingsError("VERDICT_SETTLEMENT=chain needs VERDICT_RPC_URL.")
        if bool(self.operator_key) == bool(self.operator_keystore):
            raise SettingsError(
                "VERDICT_SETTLEMENT=chain needs one of VERDICT_OPERATOR_KEY and VERDICT_OPERATOR_KEYSTORE."
            )
        if self.operator_key and not _PRIVATE_KEY.match(self.operator_key.text):
            raise SettingsError("VERDICT_OPERATOR_KEY takes a private key: 0x and 64 hexadecimal digits.")
        if self.operator_keystore and not self.operator_password:
            raise SettingsError("VERDICT_OPERATOR_KEYSTORE needs VERDICT_OPERATOR_PASSWORD.")

    def _check_model(self) -> None:
        _check_range("LLM_SECONDS", self.llm_seconds, 1, 120)
        _check_range("LLM_TOKENS", self.llm_tokens, 50, 8_000)
        _check_range("LLM_DAILY_TOKENS", self.llm_daily_tokens, 1, 1_000_000_000_000)
        if self.llm_url and not _API.match(self.llm_url):
            raise SettingsError("VERDICT_LLM_URL takes a scheme and a host, such as https://llm.example.org/v1.")
        if bool(self.llm_url) != bool(self.llm_model):
            raise SettingsError("VERDICT_LLM_URL and VERDICT_LLM_MODEL go together. Set both or neither.")
        if self.llm_key and not _TOKEN.match(self.llm_key.text):
            raise SettingsError("VERDICT_LLM_KEY takes printable characters without spaces.")

    def _check_wallets(self) -> None:
        if not self.wallets_rpc or not all(_API.match(url.text) for url in self.wallets_rpc):
            raise SettingsError(
                "VERDICT_WALLETS_RPC takes addresses such as https://rpc.example.org, separated by commas."
            )

    def _check_mail(self) -> None:
        if bool(self.smtp_url) != bool(self.smtp_from):
            raise SettingsError("VERDICT_SMTP_URL and VERDICT_SMTP_FROM go together. Set both or neither.")
        if self.smtp_url and not _SMTP.match(self.smtp_url.text):
            raise SettingsError("VERDICT_SMTP_URL takes an address such as smtps://user:password@mail.example.org.")
        if self.smtp_from and not _MAIL.match(self.smtp_from):
            raise SettingsError("VERDICT_SMTP_FROM takes an e-mail address such as alerts@example.org.")
        if not all(map(_RECIPIENT.match, self.alert_mail_to)):
            raise SettingsError("VERDICT_ALERT_MAIL_TO takes addresses such as me@example.org, or @example.org.")

    def url_of(self, upstream: str) -> str:
        """Where one of `UPSTREAMS` is asked."""
        return str(getattr(self, f"{upstream}_url"))

    def _check_lists(self) -> None:
        for host in self.hosts:
            if not _is_host(host):
                raise SettingsError(
                    f"VERDICT_HOSTS takes host names without scheme and port, such as api.example.org, not {host!r}."
                )
        for origin in self.cors_origins:
            if not _ORIGIN.match(origin):
                raise SettingsError(
                    f"VERDICT_CORS_ORIGINS takes origins such as https://app.example.org, or *, not {origin!r}."
                )
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise SettingsError(f"VERDICT_TRUSTED_PROXIES takes addresses or networks, not {proxy!r}.") from error


def of_this_process() -> Settings:
    """Read the settings of this process's environment.

    Raises:
        SettingsError: If a setting is not valid.
    """
    return Settings.from_environ(os.environ)


def variable(name: str) -> str:
    """The environment variable a field is read from."""
    return _PREFIX + name.upper()


def takes(name: str) -> str:
    """What a field takes, in words: its choices, or what kind of value."""
    kind = get_type_hints(Settings)[name]
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    return "a whole number"


def _split(name: str, value: str) -> str | list[str]:
    if name in {"hosts", "trusted_proxies", "cors_origins", "wallets_rpc", "alert_mail_to"}:
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _decode_hook(kind: type, value: object) -> Path | Secret:
    """Read the kinds of settings that msgspec does not know by itself."""
    return Secret(str(value)) if kind is Secret else Path(str(value)).expanduser()


def _is_host(name: str) -> bool:
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return _HOST.match(name) is not None


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise SettingsError(f"{_PREFIX}{name} takes {low} to {high}, not {value}.")
