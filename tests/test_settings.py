from pathlib import Path

import pytest

from service.admin.serve import describe
from service.settings import Settings, SettingsError, takes, variable


def read(**given: str) -> Settings:
    return Settings.from_environ({f"VERDICT_{name.upper()}": value for name, value in given.items()})


@pytest.mark.promise("run.address")
def test_without_an_environment_every_setting_has_its_default() -> None:
    settings = Settings.from_environ({})
    assert (settings.host, settings.port, settings.source, settings.replay) == ("127.0.0.1", 8402, "live", "shifted")
    assert settings.data_dir.name == "verdict"


@pytest.mark.promise("run.address", "run.rate-settings", "settings.prefix")
def test_a_value_is_converted_to_the_kind_of_its_field() -> None:
    settings = read(port="0", data_dir="~/v", hosts=" a.example , b.example,", trusted_proxies="10.0.0.0/8,::1")
    assert settings.port == 0
    assert settings.data_dir == Path.home() / "v"
    assert settings.hosts == ("a.example", "b.example")
    assert settings.trusted_proxies == ("10.0.0.0/8", "::1")


def test_hosts_and_origins_are_taken_as_browsers_and_callers_write_them() -> None:
    settings = read(
        hosts="b\u00fccher.example, [::1], my_host", cors_origins="*, http://localhost:3000, http://[::1]:80"
    )
    assert settings.hosts == ("b\u00fccher.example", "[::1]", "my_host")
    assert settings.cors_origins == ("*", "http://localhost:3000", "http://[::1]:80")


def test_an_empty_value_counts_as_unset_and_foreign_variables_are_left_alone() -> None:
    assert Settings.from_environ({"VERDICT_PORT": "", "PORT": "1", "HOME": "/"}) == Settings()


def test_the_variables_of_the_clients_are_left_alone() -> None:
    assert read(url="http://127.0.0.1:8402", token="verdict_sk_x") == Settings()


@pytest.mark.promise("settings.prefix", "run.tls", "keys.prefix-setting", "run.source")
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hostz", "x", "VERDICT_HOSTZ is not a setting. `verdict serve --help` lists them."),
        ("port", "http", "VERDICT_PORT takes a whole number, not 'http'"),
        ("port", "70000", "VERDICT_PORT takes 0 to 65535, not 70000"),
        ("metrics_port", "-1", "VERDICT_METRICS_PORT takes 0 to 65535, not -1"),
        ("source", "recorded", "VERDICT_SOURCE takes fixtures or live, not 'recorded'"),
        ("log_level", "INFO", "VERDICT_LOG_LEVEL takes debug or info or warning or error, not 'INFO'"),
        ("rate_per_minute", "0", "VERDICT_RATE_PER_MINUTE takes 1 to 1000000000, not 0"),
        ("rate_burst", "0", "VERDICT_RATE_BURST takes 1 to 1000000000, not 0"),
        ("drain_seconds", "10", "VERDICT_DRAIN_SECONDS takes 0 to 9, not 10"),
        ("idle_timeout", "4", "VERDICT_IDLE_TIMEOUT takes 5 to 600, not 4"),
        ("idle_timeout", "601", "VERDICT_IDLE_TIMEOUT takes 5 to 600, not 601"),
        ("idle_timeout", "-75", "VERDICT_IDLE_TIMEOUT takes 5 to 600, not -75"),
        ("idle_timeout", "75s", "VERDICT_IDLE_TIMEOUT takes a whole number, not '75s'"),
        ("tls_cert", "/c.pem", "VERDICT_TLS_CERT and VERDICT_TLS_KEY go together. Set both or neither."),
        ("tls_key", "/k.pem", "VERDICT_TLS_CERT and VERDICT_TLS_KEY go together. Set both or neither."),
        ("key_prefix", "VERDICT", "VERDICT_KEY_PREFIX takes lower-case letters and digits and must end in _sk_"),
        ("key_prefix", "v_sk_\n", "VERDICT_KEY_PREFIX takes lower-case letters and digits and must end in _sk_"),
        ("trusted_proxies", "proxy", "VERDICT_TRUSTED_PROXIES takes addresses or networks, not 'proxy'"),
        (
            "hosts",
            "https://a.example",
            "VERDICT_HOSTS takes host names without scheme and port, such as api.example.org",
        ),
        ("hosts", "a.example,b.example:8402", "VERDICT_HOSTS takes host names without scheme and port, such as"),
        (
            "hosts",
            "a..example",
            "VERDICT_HOSTS takes host names without scheme and port, such as api.example.org, not 'a..",
        ),
        ("hosts", "::1", "VERDICT_HOSTS takes host names without scheme and port, such as api.example.org, not '::1'"),
        (
            "cors_origins",
            "app.example",
            "VERDICT_CORS_ORIGINS takes origins such as https://app.example.org, or *, not",
        ),
        ("cors_origins", "https://App.example/", "VERDICT_CORS_ORIGINS takes origins such as https://app.example.org"),
        ("public_url", "a.example", "VERDICT_PUBLIC_URL takes a scheme and a host, such as https://api.example.org"),
        ("hyperliquid_url", "ftp://x", "VERDICT_HYPERLIQUID_URL takes a scheme and a host"),
        ("coingecko_url", "http://", "VERDICT_COINGECKO_URL takes a scheme and a host"),
        ("coingecko_key", "two words", "VERDICT_COINGECKO_KEY takes printable characters without spaces"),
        ("pay_to", "0x12", "VERDICT_PAY_TO takes an EVM address: 0x and 40 hexadecimal digits"),
        (
            "smtp_url",
            "smtp://mail.example.org",
            "VERDICT_SMTP_URL and VERDICT_SMTP_FROM go together. Set both or neither.",
        ),
        ("alert_mail_to", "me", "VERDICT_ALERT_MAIL_TO takes addresses such as me@example.org, or @example.org"),
        ("network", "base", "VERDICT_NETWORK takes eip155:84532 or eip155:8453, not 'base'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_what_it_takes(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(**{name: value})
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "sender", "message"),
    [
        ("mail.example.org", "alerts@example.org", "VERDICT_SMTP_URL takes an address such as smtps://user:password@"),
        ("smtps://mail.example.org", "alerts", "VERDICT_SMTP_FROM takes an e-mail address such as alerts@example.org"),
    ],
)
def test_mail_needs_the_address_of_a_server_and_of_a_sender(url: str, sender: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(smtp_url=url, smtp_from=sender)
    assert str(refused.value).startswith(message)


def test_what_clients_are_told_is_no_mistake_of_the_service() -> None:
    """Whoever pays and signs in from the machine that serves has all of them set."""
    told = {"URL": "http://a.example", "TOKEN": "x", "WALLET_KEY": "0x1", "KEYSTORE_PASSWORD": "y"}
    assert Settings.from_environ({variable(name): value for name, value in told.items()}) == Settings()


def test_every_setting_is_described_with_its_variable_and_default() -> None:
    rows = describe()
    assert [row.variable for row in rows] == [variable(name) for name in Settings.__struct_fields__]
    assert all(row.description for row in rows)
    assert rows[1] == ("VERDICT_PORT", "8402", "port to listen on; 0 takes a free one")
    assert next(row.default for row in rows if row.variable == "VERDICT_HOSTS") == ""


def test_what_a_setting_takes_can_be_said_in_words() -> None:
    assert takes("replay") == "shifted or frozen"
    assert takes("port") == "a whole number"


def test_the_nodes_of_wallets_are_a_list_whose_keys_stay_hidden() -> None:
    told = Settings.from_environ({"VERDICT_WALLETS_RPC": "https://a.example.org/v1/sesame, https://b.example.org"})
    assert [url.text for url in told.wallets_rpc] == ["https://a.example.org/v1/sesame", "https://b.example.org"]
    assert "sesame" not in repr(told)


@pytest.mark.parametrize("urls", ["a.example.org", "https://a.example.org,ftp://b.example.org", ","])
def test_a_node_that_is_no_address_is_refused(urls: str) -> None:
    with pytest.raises(SettingsError, match="VERDICT_WALLETS_RPC takes addresses such as"):
        Settings.from_environ({"VERDICT_WALLETS_RPC": urls})


def test_what_opens_an_upstream_stays_hidden() -> None:
    assert "sesame" not in repr(read(coingecko_key="sesame"))


def test_the_address_of_a_shared_store_keeps_its_password_hidden() -> None:
    settings = read(store="postgres://verdict:sesame@db.example.org:5432/verdict?sslmode=require")
    assert settings.store is not None
    assert settings.store.text.endswith("/verdict?sslmode=require")
    assert "sesame" not in repr(settings)


@pytest.mark.parametrize("store", ["mysql://a/b", "postgres://db.example.org", "verdict.db", "postgres://a/b\n"])
def test_a_store_that_is_no_address_is_refused_without_repeating_it(store: str) -> None:
    with pytest.raises(SettingsError, match="VERDICT_STORE takes an address such as postgres://") as refusal:
        read(store=store)
    assert store not in str(refusal.value)
