"""Facts for question banks: read from the data routes of a running service, and bars from its store."""
import json, os, sqlite3, sys, urllib.request, urllib.error, urllib.parse, time, datetime as dt
from functools import lru_cache
from types import SimpleNamespace
BASE = os.environ.get("BANK_BASE", "http://127.0.0.1:8499"); KEY = open(os.environ.get("BANK_KEY", "/tmp/bank.key")).read().strip(); DB = os.environ.get("BANK_DB", "/tmp/bankd/verdict.db")
def _ns(v):
    if isinstance(v, dict): return SimpleNamespace(**{k: _ns(x) for k, x in v.items()})
    if isinstance(v, list): return [_ns(x) for x in v]
    return v
@lru_cache(None)
def get(path):
    """Any data route: `get("/api/cli/regime?action=active").market.regime`. Returns `data`."""
    r = urllib.request.Request(BASE + path, headers={"Authorization": "Bearer " + KEY})
    path_ = "/tmp/bank/cache"+os.environ.get("BANK_RUN","")+"/" + urllib.parse.quote(path, safe="")
    if os.path.exists(path_): return _ns(json.load(open(path_)))
    d = json.load(urllib.request.urlopen(r))["data"]
    os.makedirs("/tmp/bank/cache"+os.environ.get("BANK_RUN",""), exist_ok=True); json.dump(d, open(path_ + ".new" + str(os.getpid()), "w")); os.replace(path_ + ".new" + str(os.getpid()), path_)
    return _ns(d)
def risk(s): return get(f"/api/cli/coin/risk/{s}")
def past(s, n, unit="d"): return get(f"/api/cli/coin/historical/{s}?count={n}&unit={unit}")
def change(s, n, unit="d"): return past(s, n, unit).change_pct
def signal(s, as_of=None): return get(f"/api/cli/signal/{s}" + (f"?as_of={as_of}" if as_of else ""))
def regime(action, s=None): return get(f"/api/cli/regime?action={action}" + (f"&symbol={s}" if s else ""))
def health(): return get("/api/cli/market/health")
def crossing(): return get("/api/cli/market/crossing")
def alerts(q=""): return get("/api/cli/funding/alerts?" + q).events
def category(n): return get("/api/cli/category/info/" + urllib.parse.quote(n, safe=""))
def category_mood(n): return get("/api/cli/category/sentiment/" + urllib.parse.quote(n, safe=""))
def rwa(s): return get("/api/cli/rwa/symbol/" + urllib.parse.quote(s, safe=""))
def rwa_assets(type=None): return get("/api/cli/rwa/assets" + (f"?type={type}" if type else "")).assets
def walk(action, q=""): return get(f"/api/cli/walkforward?action={action}&{q}")
def quality(s): return get(f"/api/cli/signal-quality?asset={s}")
def talk(q): return get("/api/cli/transcripts?" + q)
def wallets(q): return get("/api/cli/wallets?" + q)
@lru_cache(None)
def _db(): return sqlite3.connect(f"file:{DB}?mode=ro", uri=True, check_same_thread=False)
@lru_cache(None)
def _venue(): return {sym: v for v, sym in _db().execute("select venue_symbol, symbol from market_coins where listed=1")}
def symbols():
    """All tickers of the service's coins."""
    return sorted(_venue())
def day(ms): return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).strftime("%Y-%m-%d")
TODAY = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
@lru_cache(None)
def bars(s, n=30, unit="d", closed=True):
    """The last n closed daily (`d`) or hourly (`h`) bars, oldest first: .day .open .high .low .close .volume (coins, not USD)."""
    rows = _db().execute("select open_ms,open,high,low,close,volume from candles where venue_symbol=? and interval=? and final=? "
        "order by open_ms desc limit ?", (_venue()[s], "1" + unit, 1, n)).fetchall()
    return [SimpleNamespace(ms=r[0], day=day(r[0]), open=r[1], high=r[2], low=r[3], close=r[4], volume=r[5]) for r in reversed(rows)]
def bar(s, date):
    """The closed daily bar of a date such as "2026-10-05"."""
    ms = int(dt.datetime.fromisoformat(date + "T00:00+00:00").timestamp() * 1000)
    r = _db().execute("select open_ms,open,high,low,close,volume from candles where venue_symbol=? and interval='1d' and open_ms=?", (_venue()[s], ms)).fetchone()
    return SimpleNamespace(ms=r[0], day=day(r[0]), open=r[1], high=r[2], low=r[3], close=r[4], volume=r[5])
def mean(xs): xs = list(xs); return sum(xs) / len(xs)
@lru_cache(None)
def _coins():
    out = []
    cats = {}
    for n in CATEGORIES:
        for c in category(n).coins: cats.setdefault(c.symbol, []).append(n)
    conf = {c.symbol: c for c in regime("confidence").coins}
    table = {row.symbol: row for row in get("/api/cli/coins?limit=1000").coins} if os.environ.get("BANK_TABLE", "1") == "1" else {}
    for s in symbols():
        r, h, g = risk(s), past(s, 24, "h"), signal(s)
        row = dict(symbol=s, price=r.price, funding_apr=r.funding_apr, trend_daily=r.trend_daily, trend_weekly=r.trend_weekly,
            trend_daily_since=getattr(r, "trend_daily_since", None), trend_weekly_since=getattr(r, "trend_weekly_since", None),
            sentiment=r.sentiment_stance, btc_correlation=r.btc_correlation, volume=h.now.futuresVolume24h, market_cap=h.now.marketCap,
            open_interest=h.now.openInterest, change_1h=change(s, 1, "h"), change_24h=h.change_pct, change_7d=change(s, 7), change_30d=change(s, 30),
            verdict=g.verdict, score=g.score, confidence=g.confidence, regime=conf[s].regime if s in conf else None, categories=cats.get(s, []))
        if s in table:
            t = table[s]
            row |= dict(change_1h=t.change_1h, change_24h=t.change_24h, change_7d=t.change_7d, change_30d=t.change_30d, volume=t.volume_24h_usd, market_cap=t.market_cap, open_interest=t.open_interest_usd)
        out.append(SimpleNamespace(**row))
    return out
CATEGORIES = ['Layer 1 (L1)', 'Layer 2 (L2)', 'Smart Contract Platform', 'Proof of Work (PoW)', 'Infrastructure', 'Interoperability', 'Modular Blockchain', 'Decentralized Finance (DeFi)', 'Decentralized Exchange (DEX)', 'Perpetuals', 'Lending/Borrowing', 'Liquid Staking', 'Restaking', 'Yield Farming', 'Real World Assets (RWA)', 'Oracle', 'Artificial Intelligence (AI)', 'AI Agents', 'DePIN', 'Storage', 'Gaming (GameFi)', 'NFT', 'Metaverse', 'Meme', 'Dog-Themed', 'PolitiFi', 'Privacy', 'Payment Solutions', 'Centralized Exchange (CEX) Token', 'Identity', 'SocialFi', 'Launchpad', 'Solana Ecosystem', 'Bitcoin Ecosystem', 'Cosmos Ecosystem', 'TON Ecosystem']
def coin(s): return next(c for c in coins if c.symbol == s)
def top(xs, key, n=1, reverse=True):
    """Tickers of the n rows with the largest (or reverse=False: smallest) key; rows whose key is None are left out."""
    rows = [c for c in xs if key(c) is not None]
    return [c.symbol for c in sorted(rows, key=lambda c: ((-1 if reverse else 1) * key(c), c.symbol))[:n]]
def where(test):
    """Rows of `coins` that fulfil a test; None values count as not fulfilling."""
    out = []
    for c in coins:
        try:
            if test(c): out.append(c)
        except TypeError: pass
    return out

class _Coins(list):
    _full = False
    def __iter__(self):
        if not self._full: self._full = True; self.extend(_coins())
        return super().__iter__()
    def __len__(self): iter(self); return super().__len__()
coins = _Coins()
NAMES = {k: v for k, v in globals().items() if not k.startswith("_")}
def evaluate(expression): return eval(expression, dict(NAMES))
if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "-e": print(evaluate(sys.argv[2]))
    else:
        bad = 0
        kinds = {}
        for i, line in enumerate(open(sys.argv[1]), 1):
            try:
                case = json.loads(line); kinds[case["kind"]] = kinds.get(case["kind"], 0) + 1
                assert set(case) <= {"id", "kind", "ask", "answer", "facts", "absent", "note"}, set(case)
                assert isinstance(case["ask"], list) and case["answer"] in ("facts", "refuse", "free")
                for f in case.get("facts", []) + case.get("absent", []):
                    v = evaluate(f); assert isinstance(v, (int, float, str, bool, list)), (f, v)
            except Exception as e: bad += 1; print(i, type(e).__name__, str(e)[:200], line[:150])
        print("bad", bad, kinds)
