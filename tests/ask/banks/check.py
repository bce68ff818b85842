"""Ask a bank's questions and check the answers. usage: check.py bank.jsonl [out.jsonl]"""
import json, os, re, sys, time, urllib.request, urllib.error, collections
import facts as F
def ask(turns):
    msgs = []
    for i, t in enumerate(turns):
        msgs.append({"role": "user", "content": t})
        if i < len(turns) - 1: msgs.append({"role": "assistant", "content": "(answer)"})
    r = urllib.request.Request(F.BASE + "/api/cli", data=json.dumps({"messages": msgs}).encode(), headers={"Authorization": "Bearer " + F.KEY, "Content-Type": "application/json", "Accept": "application/json"})
    t = time.perf_counter()
    try:
        resp = urllib.request.urlopen(r); body = resp.read(); status = resp.status; hdr = resp.headers
    except urllib.error.HTTPError as e:
        body = e.read(); status = e.code; hdr = e.headers
    return status, hdr, json.loads(body), (time.perf_counter() - t) * 1000
NUM = re.compile(r"(?<![\w.])[-+−]?\$?[-+−]?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|thousand|million|billion|trillion|[KMBT]|bn|mn)\b)?")
SC = {"k": 1e3, "thousand": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "b": 1e9, "bn": 1e9, "trillion": 1e12, "t": 1e12}
def numbers(text):
    out = []
    for m in NUM.finditer(text):
        s = m.group().replace("−", "-").replace("$", "").replace(",", "")
        mm = re.match(r"([-+]*)(\d+(?:\.\d+)?)\s*([A-Za-z]*)", s)
        v = float(mm[2]); dec = len(mm[2].split(".")[1]) if "." in mm[2] else 0
        sc = SC.get(mm[3].lower(), 1); sign = -1 if "-" in mm[1] else 1
        pct = bool(re.match(r"\s?(%|points)", text[m.end():m.end() + 8]))
        out.append((sign * v * sc, max(0.51 * 10 ** -dec * sc, 0.06 if pct else 0)))
    return out
WORDS = {w: i for i, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
def has_number(value, text, nums):
    for v, tol in nums:
        if abs(abs(v) - abs(value)) <= max(tol, abs(value) * 0.004): return True
    if isinstance(value, int) or float(value).is_integer():
        low = text.lower()
        for w, i in WORDS.items():
            if i == value and re.search(rf"\b{w}\b", low): return True
        if value == 0 and re.search(r"\b(no|none|not any|nothing)\b", low): return True
    return False
ALIAS = lambda s: [s] + ([s[1:], "k" + s[1:]] if s.startswith("K") and len(s) > 3 else [])
def has_word(s, text):
    return any(re.search(rf"(?<![A-Za-z0-9]){re.escape(a)}(?![A-Za-z0-9])", text, re.I) for a in ALIAS(s)) or s.lower() in text.lower()
def positions(syms, text):
    pos = []
    for s in syms:
        best = None
        for a in ALIAS(s):
            m = re.search(rf"(?<![A-Za-z0-9]){re.escape(a)}(?![A-Za-z0-9])", text)
            if m and (best is None or m.start() < best): best = m.start()
        pos.append(best)
    return pos
def check(case, status, text):
    first = re.split(r"(?<=[.!?])\s|\n", text.strip())[0] if text else ""
    nums = numbers(text); bad = []
    for e in case.get("facts", []):
        try: v = F.evaluate(e)
        except Exception as ex: bad.append(f"EVAL {e} {type(ex).__name__}"); continue
        if isinstance(v, bool):
            if not re.match(r"yes\b" if v else r"no\b|none\b|not\b", first.strip("* "), re.I): bad.append(f"{e} = {v}")
        elif isinstance(v, (int, float)):
            if not has_number(v, text, nums): bad.append(f"{e} = {v}")
        elif isinstance(v, str):
            if not has_word(v, text): bad.append(f"{e} = {v}")
        elif isinstance(v, list):
            p = positions(v, text)
            if any(x is None for x in p) or p != sorted(p): bad.append(f"{e} = {v}")
    for e in case.get("absent", []):
        try: v = F.evaluate(e)
        except Exception: continue
        for s in v if isinstance(v, list) else [v]:
            if isinstance(s, str) and has_word(s, text): bad.append(f"ABSENT {s}")
    return bad
def main():
    rows = [json.loads(l) for l in open(sys.argv[1])]
    c = collections.defaultdict(collections.Counter); ms = []; out = []
    for case in rows:
        status, hdr, body, t = ask(case["ask"]); ms.append(t)
        text = body.get("text") or str(body.get("error") or "")
        used = hdr.get("X-Verdict-Counted") 
        counted = bool(body.get("counted")) if "counted" in body else None
        body_text = text.split("Read as:")[0]
        refused = body.get("refused") if "refused" in body else None
        steps = body.get("steps") or []
        answered = any(s.get("error") is None and not ((s.get("result") or {}).get("refusal") if isinstance(s.get("result"), dict) else None) for s in steps)
        if case["answer"] == "facts":
            bad = check(case, status, body_text)
            v = "right" if not bad and status == 200 else "refused" if not answered else "wrong"
        elif case["answer"] == "refuse":
            bad = [] if not answered else ["answered"]; v = "right" if not bad else "leak"
        else:
            bad = check(case, status, body_text); v = "right" if not bad else "wrong"
        c[case["kind"]][v] += 1; c["ALL " + case["answer"]][v] += 1
        out.append({**case, "verdict": v, "bad": bad, "text": text, "status": status})
    if len(sys.argv) > 2: open(sys.argv[2], "w").write("\n".join(json.dumps(o) for o in out))
    for k in sorted(c): print(f"{k:24}", dict(c[k]))
    ms.sort(); print("ms median", round(ms[len(ms)//2], 1), "p95", round(ms[int(len(ms)*.95)], 1))
main()
