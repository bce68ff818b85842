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
      headers: { Accept: "application/json", Authorization: `Bearer ${token.get()}` },
    });

  // What the service says of a failure, in its own words.
  const reason = async (response) => {
    try {
      const said = await response.json();
      return said.error.message || said.error;
    } catch {
      return `the service answered ${response.status}`;
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
    if (seconds >= 86400) return `${Math.floor(seconds / 86400)}${NARROW}d`;
    if (seconds >= 3600) return `${Math.floor(seconds / 3600)}${NARROW}h`;
    if (seconds >= 60) return `${Math.floor(seconds / 60)}${NARROW}min`;
    return `${Math.max(0, Math.floor(seconds))}${NARROW}s`;
  };

  // The service said how old things were when it wrote the page; what passes since is measured here, whatever the clock.
  const grow = () => {
    const passed = performance.now() / 1000;
    for (const shown of document.querySelectorAll("time[data-age]")) {
      const age = written(Number(shown.dataset.age) / 1000 + passed);
      shown.textContent = "bare" in shown.dataset ? age : `${age} old`;
    }
  };
  if (document.querySelector("time[data-age]")) setInterval(grow, 1000);

  // Prices as the pages write them: whole from 1,000 on, else four digits that say something.
  const price = (value) => {
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
    const [whole, part = ""] = Number(value.toPrecision(4)).toFixed(12).replace(/0+$/, "").split(".");
    return `${whole}.${part.padEnd(2, "0")}`;
  };

  // One JSON object a line, for as long as it lasts; `heard` is given each. Resolves when the stream ends.
  const follow = async (stream, heard, signal) => {
    const response = await ask(`/api/cli/watch/${stream}?interval=10`, { signal });
    if (!response.ok) throw new Error(await reason(response));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (waiting + value).split("\n");
      waiting = lines.pop();
      for (const line of lines) if (line) heard(JSON.parse(line));
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

  return { token, ask, reason, element, follow, reprice, written };
})();
