"""`verdict admin doctor` asks proxies, nodes, facilitator, model, and the service that runs."""

import datetime as dt
import json
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from eth_account import Account
from msgspec.structs import replace

from service.clock import SystemClock
from service.payments.networks import NETWORKS
from service.upstream.replay.history import Mode
from service.upstream.replay.server import replay_server
from tests.admin.conftest import Admin, Look, opened
from tests.chain.evm import ETHER, Evm, EvmError
from tests.chain.node import PASS, Node, serving_node
from tests.cli.commanding import Told, typed
from tests.client.sdk.peer import Peer, Reply, answers, peer
from tests.fakes.facilitator import Facilitator, facilitator
from tests.fakes.in_thread import in_thread
from tests.fakes.model import Answer, Model, chunk, hangs_after, model, sends, used, writes
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES
from tests.upstream.test_reasons import certificate

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
NOBODY = "http://127.0.0.1:1/v2/a-key-to-be-hidden"
Asked = Callable[..., tuple[Told, dict[str, Any]]]


class Nodes(NamedTuple):
    """Where they are asked: one that follows, one that stands still, one that tells no logs, one of another chain."""

    good: str
    late: str
    mute: str
    strange: str


@asynccontextmanager
async def serving() -> AsyncIterator[Nodes]:
    async with AsyncExitStack() as stack:

        async def node(mode: Mode, method: bytes = b"", answer: Mapping[str, Any] | None = None) -> str:
            replay = await stack.enter_async_context(replay_server(FIXTURES, SystemClock(), mode))

            async def stand_in(request: web.Request) -> web.Response | None:
                return web.json_response({"id": 1, **(answer or {})}) if method in await request.read() else None

            replay.interceptor = stand_in if answer else None
            return replay.base("ethereum")

        refusal = {"error": {"code": -32_601, "message": "eth_getLogs is not available on this plan"}}
        yield Nodes(
            await node("shifted"),
            await node("frozen"),
            await node("shifted", b"eth_getLogs", refusal),
            await node("shifted", b"eth_chainId", {"result": "0xa"}),
        )


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with in_thread(serving()) as running:
        yield running


def test_nodes_are_asked_only_where_a_wallet_is_watched_on_a_live_chain(look: Look, admin: Admin, used: Path) -> None:
    assert look("wallets", wallets_rpc=NOBODY)[1]["said"] == "no wallet is watched, so no node is called"
    assert look("wallets", source="fixtures")[1]["said"] == "10 are watched on the recorded chain"
    told, found = look("wallets", wallets_file=str(used / "none.toml"))
    assert (told.code, found["findings"][0].partition(": ")[0]) == (1, "VERDICT_WALLETS_FILE")
    with opened(used) as connection:
        connection.execute("ALTER TABLE watched_wallets RENAME TO elsewhere")
    told, found = look("wallets", wallets_rpc=NOBODY)
    assert (told.code, found["said"]) == (0, "the watched wallets cannot be read, so no node is called")


def test_what_is_wrong_with_a_node_is_said_by_its_place_and_never_by_its_address(
    look: Look, admin: Admin, nodes: Nodes
) -> None:
    admin("wallets add", WALLET)
    told, found = look("wallets", wallets_rpc=f"{nodes.good},{nodes.good}")
    assert (told.code, found["findings"]) == (0, [])
    assert found["said"] == "1 are watched, and every node can follow them"
    told, found = look("wallets", wallets_rpc=",".join([*nodes, NOBODY]))
    late, mute, gone, chains = found["findings"]
    assert told.code == 1
    assert late.startswith("The newest block of node 2 is ")
    assert "No usable answer from node 3" in mute
    assert "not available on this plan" in mute
    assert gone.startswith("No usable answer from node 5. Connection refused.")
    assert chains == "The nodes are on different chains: 1, 1, 10."
    assert "VERDICT_WALLETS_RPC" in found["remedy"]
    assert "a-key-to-be" not in told.out + told.err
    assert "127.0.0.1" not in told.out + told.err


KEY = "0x" + "0" * 63 + "7"
POOR = "0x" + "0" * 63 + "8"
OPERATOR = Account.from_key(KEY).address


@pytest.fixture(scope="module")
def chain() -> Iterator[Node]:
    evm = Evm(lambda: SystemClock().now_ms() // 1_000, ether={OPERATOR: ETHER})
    with serving_node(evm) as node:
        yield node


@pytest.fixture
def node(chain: Node) -> Iterator[Node]:
    yield chain
    chain.fault = lambda _method, _parameters: PASS


@pytest.fixture
def settlement(look: Look, node: Node) -> Asked:
    """What the doctor says of settlement, with settings of its own."""
    usual = {"settlement": "chain", "pay_to": OPERATOR, "rpc_url": node.url, "operator_key": KEY}
    return lambda **settings: look("settlement", **{name: text for name, text in {**usual, **settings}.items() if text})


def answering(node: Node, method: str, answer: object) -> None:
    node.fault = lambda asked, _: answer if asked == method else PASS


def test_a_chain_that_can_settle_is_said_with_the_operators_gas(settlement: Asked, node: Node, tmp_path: Path) -> None:
    told, found = settlement()
    assert (told.code, found["findings"], found["remedy"]) == (0, [], None)
    assert found["said"].startswith(f"{OPERATOR} has 1 ETH, gas for ")
    assert "eth_sendRawTransaction" not in node.asked
    path = tmp_path / "operator.json"
    path.write_text(json.dumps(Account.encrypt(KEY, "hunter2", kdf="pbkdf2", iterations=1_000)))
    named = {"operator_key": "", "operator_keystore": str(path)}
    assert settlement(**named, operator_password="hunter2")[1]["findings"] == []
    told, found = settlement(**named, operator_password="another")
    assert (told.code, found["said"], "another" in told.out) == (1, "invalid setting", False)
    assert "VERDICT_OPERATOR_KEYSTORE" in found["findings"][0]


STALE = {"number": "0x1", "timestamp": hex(SystemClock().now_ms() // 1_000 - 3_600), "baseFeePerGas": "0x1"}
USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"


@pytest.mark.parametrize(
    ("method", "answer", "key", "finding", "remedy"),
    [
        (
            "",
            "",
            POOR,
            "The operator's account is running out of gas.",
            f"Send ether to {Account.from_key(POOR).address}",
        ),
        ("eth_chainId", "0x1", KEY, "VERDICT_RPC_URL is a node of chain 1, not 84532", "VERDICT_RPC_URL"),
        ("eth_getBlockByNumber", STALE, KEY, "The node's newest block is 6", "VERDICT_RPC_URL"),
        ("eth_call", "0x", KEY, f"The token at {USDC} is not the one that payers sign for.", ""),
        ("eth_call", "0x" + "00" * 32, KEY, f"The token at {USDC} is not the one that payers sign for.", ""),
        ("eth_maxPriorityFeePerGas", hex(30 * 10**9), KEY, "Gas costs ", "raise VERDICT_GAS_CAP_GWEI"),
    ],
)
def test_a_chain_that_cannot_settle_is_found_with_what_to_do(
    settlement: Asked, node: Node, method: str, answer: object, key: str, finding: str, remedy: str
) -> None:
    answering(node, method, answer)
    told, found = settlement(operator_key=key)
    assert told.code == 1
    assert found["findings"][0].startswith(finding)
    assert remedy in found["remedy"]


def test_a_node_that_does_not_answer_is_found_and_its_url_not_told(settlement: Asked, node: Node) -> None:
    def fail(_method: str, _parameters: object) -> object:
        raise EvmError("rate limited")

    node.fault = fail
    assert settlement()[1]["said"] == "the node gives no answer"
    told, _ = settlement(rpc_url=NOBODY)
    assert (told.code, "a-key-to-be" in told.out + told.err) == (1, False)


@pytest.fixture
def beside() -> Iterator[Facilitator]:
    with in_thread(facilitator()) as it:
        yield it


@pytest.fixture
def remote(settlement: Asked, beside: Facilitator) -> Asked:
    named = {"settlement": "remote", "facilitator_url": beside.url, "operator_key": ""}
    return lambda **settings: settlement(**{**named, **settings})


def test_a_facilitator_that_settles_what_is_sold_is_good_and_gets_its_token(remote: Asked, beside: Facilitator) -> None:
    told, found = remote()
    assert (told.code, found["said"], found["findings"]) == (0, "the facilitator settles what is sold here", [])
    assert (beside.bearers, beside.asked, beside.verified) == ([None], [], 0)
    secret = b64encode(bytes(range(32)) + bytes(32)).decode()
    assert remote(facilitator_token="sesame")[1]["findings"] == []
    assert remote(cdp_key_id="id", cdp_key_secret=secret)[1]["findings"] == []
    assert beside.bearers[1] == "Bearer sesame"
    assert str(beside.bearers[2]).startswith("Bearer eyJ")
    assert remote(cdp_key_id="id", cdp_key_secret="no key")[1]["said"] == "invalid setting"


KINDS = [
    {"x402Version": 2, "scheme": "exact", "network": "eip155:84532"},
    {"x402Version": 1, "scheme": "upto", "network": "base-sepolia"},
]


@pytest.mark.parametrize(
    ("status", "body", "said", "finding"),
    [
        (200, json.dumps({"kinds": KINDS}), "the facilitator does not settle all payments",
         "It does not settle `exact` of x402 v1 on base-sepolia."),
        (401, "no", "the facilitator gives no usable answer (status 401)", "The answer is: no."),
        (302, "", "the facilitator gives no usable answer (status 302)", "The answer is empty."),
        (200, '{"kinds":' + "[" * 9_000, "the facilitator gives no usable answer (status 200)",
         'The answer is: {"kinds":' + "[" * 2_039 + "."),
    ],
)  # fmt: skip
def test_a_facilitator_that_does_not_settle_what_is_sold_is_found(
    remote: Asked, beside: Facilitator, status: int, body: str, said: str, finding: str
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        headers = {"Location": "http://127.0.0.1:9/"}
        return web.Response(status=status, text=body, headers=headers, content_type="application/json")

    beside.supported = answer
    told, found = remote()
    assert (told.code, found["said"], found["findings"]) == (1, said, [finding])
    assert "VERDICT_FACILITATOR_URL" in found["remedy"]


def test_the_node_beside_a_facilitator_is_asked_too_the_public_one_where_none_is_named(
    remote: Asked, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, found = remote(facilitator_url="http://127.0.0.1:9", facilitator_token="open-sesame")
    assert (told.code, found["findings"]) == (1, ["Connection refused."])
    assert "sesame" not in told.out + told.err
    public = replace(NETWORKS["eip155:84532"], rpc_url=node.url)
    monkeypatch.setitem(NETWORKS, "eip155:84532", public)
    answering(node, "eth_chainId", "0x1")
    for url in (node.url, ""):
        assert remote(rpc_url=url)[1]["findings"] == ["VERDICT_RPC_URL is a node of chain 1, not 84532."]


@pytest.fixture(scope="module")
def running() -> Iterator[Model]:
    with in_thread(model()) as it:
        yield it


UNUSED = " answers and does not report its usage, so the maximum is counted"


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (writes("ready", usage=used(9, 1)), 0, "small answers and reports its usage"),
        (writes("ready", usage=None), 0, f"small{UNUSED}"),
        (faults.answer(401, b"a-key-to-be-hidden"), 1, "The model small failed: It answered with status 401."),
        (faults.html, 1, "The model small failed: Its answer is not a stream of events."),
        (sends(chunk(" ", "stop")), 1, "The model small failed: Its answer is empty."),
        (hangs_after(b""), 1, "The model small failed: No complete answer within 1 s."),
        (None, 1, "The model small failed: Connection refused."),
    ],
)
def test_a_model_is_asked_one_question_and_its_key_is_not_told(
    look: Look, running: Model, answer: Answer | None, code: int, said: str
) -> None:
    running.answer = answer or running.answer
    named = {"llm_url": running.url if answer else NOBODY, "llm_model": "small", "llm_key": "a-key-to-be-hidden"}
    told, found = look("model", **named, llm_seconds="1")
    assert (told.code, found["findings"] or [found["said"]]) == (code, [said])
    assert ("VERDICT_LLM_URL" in (found["remedy"] or "")) == bool(code)
    assert "a-key-to-be" not in told.out + told.err
    assert running.headers[-1]["authorization"] == "Bearer a-key-to-be-hidden"


HTTPS, HTTP = {"HTTPS_PROXY": "anna:hunter2@p.example:3128"}, {"HTTP_PROXY": "q.example:2"}
DIRECT = "webhooks, transcript feeds and redirects to other hosts connect directly"


@pytest.mark.parametrize(
    ("variables", "settings", "said"),
    [
        ({}, {"source": "live"}, None),
        (HTTPS, {"source": "fixtures"}, None),
        ({**HTTPS, "NO_PROXY": "*"}, {"source": "live"}, None),
        (
            {**HTTPS, "NO_PROXY": "coindesk.com"},
            {"source": "live", "wallets_rpc": "http://127.0.0.1:8545,https://node.example/key"},
            "p.example:3128 (HTTPS_PROXY) for Hyperliquid, Binance, CoinGecko, alternative.me, Cointelegraph, node 2",
        ),
        (
            {**HTTPS, **HTTP},
            {"source": "fixtures", "llm_url": "http://m.example/v1", "llm_model": "s", "rpc_url": "https://n.example"},
            "p.example:3128 (HTTPS_PROXY) for payment chain; q.example:2 (HTTP_PROXY) for model",
        ),
        ({"HTTPS_PROXY": "socks5://anna:hunter2@p.example"}, {"source": "live"}, "invalid setting"),
    ],
)
def test_the_doctor_says_which_proxy_is_used_for_what(
    admin: Admin, used: Path, monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str], settings: dict[str, str], said: str | None,
) -> None:  # fmt: skip
    async def ask_nobody(*_: object) -> list[object]:
        return []

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv(name, variables.get(name, ""))
    monkeypatch.setattr("service.admin.doctor._ask_others", ask_nobody)
    told = admin("doctor --json", **settings)
    found = [check for check in told.json["checks"] if check["check"] == "proxy"]
    invalid = said == "invalid setting"
    assert [check["said"] for check in found] == ([] if said is None else [said if invalid else f"{said}; {DIRECT}"])
    assert told.code == invalid
    assert "hunter2" not in told.out


def health(*words: str, **settings: str) -> Told:
    named = {f"VERDICT_{name.upper()}": value for name, value in settings.items()}
    return typed("admin", "doctor", "--health", *words, environment=named)


def port_of(there: Peer) -> str:
    return there.url.rpartition(":")[2]


@pytest.mark.parametrize("host", ["", "127.0.0.1", "0.0.0.0", "localhost"])
def test_a_service_that_answers_is_healthy_whatever_host_it_listens_on(host: str) -> None:
    with peer(*[answers(b"")] * 3) as there:
        url, port = f"{there.url}/healthz", port_of(there)
        for told in (health(host=host, port=port), health(host=host, port=port, hosts="verdict.example")):
            assert (told.code, told.out) == (0, f"{url} answers.\n")
        assert health("--json", port=port).json == {"ok": True, "url": url}
        assert [heard.target for heard in there.heard] == ["/healthz"] * 3


@pytest.mark.parametrize("reply", [*(answers(b"", status) for status in (204, 301, 404, 421, 503)), None])
def test_a_service_that_does_not_answer_200_is_a_failure(reply: Reply | None) -> None:
    with peer(*([reply] if reply else [])) as there:
        if reply is None:
            there.close()
        told = health(port=port_of(there))
    assert told.code == 1
    assert ("not 200. Check which program listens there." if reply else "set VERDICT_PORT to its port") in told.err


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"port": "0"}, "VERDICT_PORT=0 takes any free port"),
        ({"port": "x"}, "VERDICT_PORT takes a whole number"),
        ({"nothing": "1"}, "VERDICT_NOTHING is not a setting"),
        ({"host": "a..b"}, "VERDICT_HOST=a..b is not a known host"),
        ({"host": "x" * 300}, "is not a known host"),
        ({"tls_cert": "a.pem"}, "VERDICT_TLS_CERT and VERDICT_TLS_KEY go together"),
    ],
)
def test_settings_that_name_no_address_are_refused(settings: dict[str, str], said: str) -> None:
    told = health(**settings)
    assert (told.code, said in told.err) == (1, True)


def test_with_a_certificate_https_is_asked_and_the_name_in_it_does_not_matter(tmp_path: Path) -> None:
    pem = certificate(tmp_path, until=dt.datetime(2020, 1, 1, tzinfo=dt.UTC), name="verdict.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with peer(answers(b""), context=context) as there:
        assert health(port=port_of(there), tls_cert=str(pem), tls_key=str(pem)).code == 0
        assert health(port=port_of(there)).code == 1
        assert [heard.target for heard in there.heard] == ["/healthz"]
