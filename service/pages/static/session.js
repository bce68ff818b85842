// What all pages share: whose token this tab holds, how the API is asked, and ages that go on growing.
"use strict";

const verdict = (() => {
  const KEPT = "verdict.token";

  const token = {
    get: () => sessionStorage.getItem(KEPT),
    keep: (text) => sessionStorage.setItem(KEPT, text),
    forget: () => sessionStorage.removeItem(KEPT),
  };

  const ask = (path, options = {}) =>
    fetch(path, {
      cache: "no-store",
      ...options,
      headers: { Accept: "application/json", Authorization: `Bearer ${token.get()}`, ...options.headers },
    });

  // What the service says of a failure, in its own words.
  const reason = async (response) => {
    try {
      const said = await response.json();
      return said.error.message || said.error;
    } catch {
      return `The service answered ${response.status}.`;
    }
  };

  const element = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const NARROW = "\u202f";
  const written = (seconds) => {
    if (seconds >= 172800) return `${Math.floor(seconds / 86400)}${NARROW}days`;
    if (seconds >= 3600) return `${Math.floor(seconds / 3600)}${NARROW}h`;
    if (seconds >= 60) return `${Math.floor(seconds / 60)}${NARROW}min`;
    return `${Math.max(0, Math.floor(seconds))}${NARROW}s`;
  };

  // Milliseconds since the page was asked for. The monotonic clock may stop while the machine sleeps, the other may be set.
  let [passedMs, lastMs, lastDateMs] = [performance.now(), performance.now(), Date.now()];
  const passed = () => {
    const [nowMs, dateMs] = [performance.now(), Date.now()];
    passedMs += Math.max(nowMs - lastMs, dateMs - lastDateMs);
    [lastMs, lastDateMs] = [nowMs, dateMs];
    return passedMs;
  };

  // The service said how old things were when it wrote the page; what passes since is added here.
  const grow = () => {
    const sinceMs = passed();
    for (const shown of document.querySelectorAll("time[data-age]")) {
      shown.textContent = `${written((Number(shown.dataset.age) + sinceMs) / 1000)} old`;
    }
  };
  if (document.querySelector("time[data-age]")) setInterval(grow, 1000);

  // Prices as the pages write them: with the precision of the venue (`service/formats.py`).
  const price = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 12 });
  const percent = (value) => `${(Number(value.toFixed(1)) + 0).toFixed(1)} %`; // adding 0 removes the sign of -0

  // Whether a stream is followed now; without a name: any.
  const followed = new Set();
  const follows = (stream) => [...followed].some((one) => !stream || one.stream === stream);

  // One JSON object a line, for as long as it lasts; `heard` is given each. Resolves when the stream ends.
  const follow = async (stream, heard, signal) => {
    const response = await ask(`/api/cli/watch/${stream}?interval=10`, { signal });
    if (!response.ok) throw new Error(await reason(response));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const mine = { stream };
    followed.add(mine);
    let waiting = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (waiting + value).split("\n");
        waiting = lines.pop();
        for (const line of lines) if (line) heard(JSON.parse(line));
      }
    } finally {
      followed.delete(mine);
    }
  };

  // Write live prices into every place that shows one.
  const reprice = (prices) => {
    for (const place of document.querySelectorAll("[data-symbol] [data-price]")) {
      const told = prices[place.closest("[data-symbol]").dataset.symbol];
      const text = told && told.price !== null ? price(told.price) : place.textContent;
      if (text === place.textContent) continue;
      place.textContent = text;
      if ("v" in place.dataset) place.dataset.v = told.price;
      place.classList.remove("moved");
      void place.offsetWidth; // begins the fade anew
      place.classList.add("moved");
    }
  };

  return { token, ask, reason, element, follow, follows, passed, percent, price, reprice, written };
})();
