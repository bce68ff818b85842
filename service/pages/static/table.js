// The table of coins: sorted, filtered and watched in the browser, refreshed from the snapshot that all pages share.
"use strict";

(() => {
  const EVERY_MS = 15000;
  const LONGEST_MS = 300000;
  const PATIENCE_MS = 10000;
  const WATCHED = "verdict.watched";
  const RELOADED = "verdict.reloaded";
  const table = document.getElementById("t-coins");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const titles = heads.slice(1, -1).map((head) => head.textContent);
  const VERDICT = heads.findIndex((head) => head.textContent === "Verdict");
  const DAILY = heads.findIndex((head) => head.textContent === "Daily");

  // Watched coins.
  const kept = () => {
    try {
      return new Set(JSON.parse(localStorage.getItem(WATCHED) ?? "[]"));
    } catch {
      return new Set(); // not written by this script
    }
  };
  const watched = kept();
  const star = (row) => {
    const symbol = row.dataset.symbol;
    const button = verdict.element("button", "", "star");
    button.type = "button";
    const draw = () => {
      button.textContent = watched.has(symbol) ? "★" : "☆";
      button.setAttribute("aria-pressed", watched.has(symbol));
    };
    button.setAttribute("aria-label", `Watch ${symbol}`);
    button.addEventListener("click", () => {
      if (!watched.delete(symbol)) watched.add(symbol);
      localStorage.setItem(WATCHED, JSON.stringify([...watched]));
      draw();
      if (byStar.checked) filterRows();
    });
    draw();
    row.cells[0].prepend(button);
  };

  // Filters.
  const [filter, byTrend, byVerdict, byStar] = ["filter", "by-trend", "by-verdict", "by-star"].map((id) => document.getElementById(id));
  const shown = document.getElementById("shown");
  const filterRows = () => {
    const wanted = filter.value.trim().toUpperCase();
    let count = 0;
    for (const row of body.rows) {
      const link = row.querySelector("a");
      const trend = row.cells[DAILY].dataset.v;
      row.hidden = !(
        (row.dataset.symbol.includes(wanted) || link.title.toUpperCase().includes(wanted)) &&
        (!byTrend.value || (trend !== "" && Number(trend) === Number(byTrend.value))) &&
        (!byVerdict.value || row.cells[VERDICT].textContent.includes(byVerdict.value)) &&
        (!byStar.checked || watched.has(row.dataset.symbol))
      );
      count += !row.hidden;
    }
    const none = byStar.checked && !watched.size ? "No coin is watched yet: press the star beside a coin." : `${count} coins`;
    const text = count < body.rows.length ? none : "";
    if (shown.textContent !== text) shown.textContent = text; // each write is announced
  };
  for (const control of [filter, byTrend, byVerdict, byStar]) control.addEventListener("input", filterRows);
  filter.addEventListener("keydown", (event) => {
    const first = [...body.rows].find((row) => !row.hidden);
    if (event.key === "Enter" && filter.value && first) location.assign(first.querySelector("a").href);
  });
  document.getElementById("filters").hidden = false;

  // Sorting.
  const value = (row, place) => {
    const text = row.cells[place].dataset.v;
    if (text === undefined) return row.dataset.symbol;
    return text === "" ? null : Number(text);
  };
  let order = null; // the column and direction that the reader chose
  const sort = () => {
    if (!order || body.contains(document.activeElement)) return; // a row that moves loses the focus
    const { place, up } = order;
    const rows = [...body.rows].sort((one, other) => {
      const [a, b] = [value(one, place), value(other, place)];
      if (a === b) return 0;
      if (a === null) return 1; // unknown values come last in both orders
      if (b === null) return -1;
      return (a < b ? -1 : 1) * (up ? 1 : -1);
    });
    if (rows.some((row, index) => row !== body.rows[index])) body.append(...rows);
  };
  heads.forEach((head, place) => {
    const button = verdict.element("button", head.textContent, "sort");
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending" || (place === 0 && !head.hasAttribute("aria-sort"));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      order = { place, up };
      sort();
    });
  });
  for (const row of body.rows) star(row);

  // Refreshing.
  const staleMark = () => {
    const mark = verdict.element("abbr", "stale", "stale");
    mark.title = "This value could not be refreshed: this is the last that is known";
    return mark;
  };
  // Writes a cell of the snapshot; whether it changed.
  const write = (place, [text, , style, isStale], kind) => {
    if (place.textContent === (isStale ? `${text} stale` : text)) return false;
    place.replaceChildren(text, ...(isStale ? [" ", staleMark()] : []));
    place.className = [kind, style].filter(Boolean).join(" ");
    return true;
  };
  const writeRow = (row, cells, moved) => {
    cells.forEach((cell, index) => {
      const place = row.cells[index + 1];
      if ("price" in place.dataset && verdict.follows("prices")) return; // streamed prices are newer
      const [before, now] = [place.dataset.v, cell[1]];
      if (!write(place, cell, index + 1 < DAILY ? "num" : "")) return;
      place.dataset.v = now ?? "";
      if (before !== "" && now !== null && Number(before) !== now) moved.push([place, Number(before) > now ? "fell" : "rose"]);
    });
  };
  const writeTile = (tile, { figure, note }) => {
    write(tile.querySelector("b"), figure, "");
    write(tile.querySelector("small"), note, note[2] ? "" : "soft");
  };
  const writeNotices = (texts) => {
    const notices = document.getElementById("notices");
    if ([...notices.children].map((notice) => notice.textContent).join() === texts.join()) return;
    notices.replaceChildren(...texts.map((text) => verdict.element("p", text, "note bad")));
  };

  // Only the service writes rows and columns. Reload once for each set of them, and never under a reader's hands.
  const reload = (columns, coins) => {
    const version = JSON.stringify([columns, Object.keys(coins).sort()]);
    const inUse = !document.getElementById("answer").hidden || document.activeElement.matches("input, select") || verdict.follows();
    if (inUse || sessionStorage.getItem(RELOADED) === version) return;
    sessionStorage.setItem(RELOADED, version);
    location.reload();
  };

  const quotes = document.getElementById("quotes");
  let writtenMs = quotes ? Date.parse(quotes.dateTime) : 0;
  const show = ({ quotes_ms: quotesMs, columns, coins, tiles, notices }, nowMs, beganMs) => {
    if (quotes) quotes.dataset.age = nowMs - Math.max(writtenMs, quotesMs ?? 0) - beganMs;
    if (quotesMs === null || quotesMs < writtenMs) return; // the page is newer
    const isSameTable = columns.join() === titles.join();
    const symbols = new Set([...body.rows].map((row) => row.dataset.symbol));
    if (!quotes || !isSameTable || Object.keys(coins).some((symbol) => !symbols.has(symbol))) reload(columns, coins);
    if (!isSameTable) return;
    writtenMs = quotesMs;
    if (quotes) quotes.dateTime = new Date(quotesMs).toISOString();
    const moved = [];
    for (const row of [...body.rows]) {
      const cells = coins[row.dataset.symbol];
      if (cells) writeRow(row, cells, moved);
      else row.remove();
    }
    void body.offsetWidth; // begins all fades again
    for (const [place, name] of moved) place.classList.add(name);
    for (const [key, tile] of Object.entries(tiles)) writeTile(document.querySelector(`[data-tile="${key}"]`), tile);
    writeNotices(notices);
    sort();
    filterRows();
  };

  const load = async () => {
    const beganMs = verdict.passed();
    const response = await fetch("/snapshot.json", { cache: "no-cache", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) throw new Error(`The service answered ${response.status}.`);
    return [await response.json(), Date.parse(response.headers.get("date")), beganMs]; // both times are the service's
  };
  let [isBusy, delay, timer] = [false, EVERY_MS, 0];
  const poll = async () => {
    if (isBusy) return;
    clearTimeout(timer);
    isBusy = true;
    const loaded = document.hidden ? [] : await load().catch(() => null); // the age of the prices goes on growing
    isBusy = false;
    delay = loaded ? EVERY_MS : Math.min(2 * delay, LONGEST_MS);
    timer = setTimeout(poll, delay);
    if (loaded?.length) show(...loaded);
  };
  document.addEventListener("visibilitychange", poll);
  poll();
})();
