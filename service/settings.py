"""Settings: the only reader of the environment, one frozen struct that is handed down."""

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
from platformdirs import user_data_path

_PREFIX: Final = "VERDICT_"
_KEY_PREFIX: Final = re.compile(r"[a-z0-9]{1,20}_sk_\Z")
_CLIENT_SETTINGS: Final = frozenset({"URL", "TOKEN"})


class SettingsError(ValueError):
    """A setting that cannot be used; the message names the variable and what it takes."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator may choose. Field `x_y` is read from `VERDICT_X_Y`.

    `rate_per_minute` and `rate_burst` are requests a credential; `metrics_port` 0 turns metrics off;
    `fixtures_dir` is where recorded upstreams are read from; `drain_seconds` is how long a stop waits for open answers.
    """

    host: str = "127.0.0.1"
    port: int = 8402
    tls_cert: Path | None = None
    tls_key: Path | None = None
    public_url: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    rate_per_minute: int = 600
    rate_burst: int = 300
    data_dir: Path = msgspec.field(default_factory=lambda: user_data_path("verdict", appauthor=False))
    source: Literal["fixtures", "live"] = "live"
    replay: Literal["shifted", "frozen"] = "shifted"
    fixtures_dir: Path = Path(__file__).resolve().parent.parent / "fixtures" / "upstream"
    hyperliquid_url: str = "https://api.hyperliquid.xyz"
    key_prefix: str = "verdict_sk_"
    metrics_port: int = 0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    drain_seconds: int = 8
    network: Literal["eip155:84532", "eip155:8453"] = "eip155:84532"
    pay_to: str = "0x000000000000000000000000000000000000dEaD"

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
            raise SettingsError(f"{_variable(min(unknown))} is not a setting; see `verdict serve --help`")
        wanted = {name: _split(name, value) for name, value in given.items()}
        try:
            settings = msgspec.convert(wanted, cls, strict=False, dec_hook=_decode_path)
        except msgspec.ValidationError as error:
            reason, _, at = str(error).partition(" - at `$.")
            raise SettingsError(f"{_variable(at.split('[')[0].rstrip('`') or 'SETTINGS')}: {reason}") from error
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse combinations that cannot work.

        Raises:
            SettingsError: Naming the variable.
        """
        _check_range("PORT", self.port, 0, 65_535)
        _check_range("METRICS_PORT", self.metrics_port, 0, 65_535)
        _check_range("RATE_PER_MINUTE", self.rate_per_minute, 1, 1_000_000_000)
        _check_range("RATE_BURST", self.rate_burst, 1, 1_000_000_000)
        _check_range("DRAIN_SECONDS", self.drain_seconds, 0, 9)
        if bool(self.tls_cert) != bool(self.tls_key):
            raise SettingsError("VERDICT_TLS_CERT and VERDICT_TLS_KEY go together: set both or neither")
        if not _KEY_PREFIX.match(self.key_prefix):
            raise SettingsError("VERDICT_KEY_PREFIX takes lower-case letters and digits and must end in _sk_")
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise SettingsError(f"VERDICT_TRUSTED_PROXIES takes addresses or networks, not {proxy!r}") from error
        if self.public_url and not re.match(r"https?://[^/\s]+\Z", self.public_url):
            raise SettingsError("VERDICT_PUBLIC_URL takes a scheme and a host, such as https://api.example.org")


def _variable(field: str) -> str:
    return _PREFIX + field.upper()


def _split(name: str, value: str) -> str | list[str]:
    if name in {"hosts", "trusted_proxies", "cors_origins"}:
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _decode_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value).expanduser()
    raise NotImplementedError


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise SettingsError(f"{_PREFIX}{name} takes {low} to {high}, not {value}")
