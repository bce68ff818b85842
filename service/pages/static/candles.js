// The chart of a coin: candles with panes of volume, funding and open interest, drawn by Lightweight Charts.
"use strict";

(() => {
  const figure = document.getElementById("chart");
  if (!figure) return;
  const { symbol, span } = figure.dataset;
  const [AT, OPEN, HIGH, LOW, CLOSE, VOLUME, FUNDING, INTEREST] = [0, 1, 2, 3, 4, 5, 6, 7];
  const { createChart, CandlestickSeries, HistogramSeries, LineSeries, PriceScaleMode } = LightweightCharts;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const unit = ["24h", "7d", "30d"].includes(span) ? 3600 : 86400; // seconds of a bar (`service/pages/chart.py`)
  const load = async (coin) => {
    const response = await fetch(`/chart/${encodeURIComponent(coin)}?span=${span}`);
    return response.ok ? (await response.json()).bars : [];
  };

  const money = (value) => `$${Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 }).format(value)}`;
  const looks = () => ({
    layout: {
      attributionLogo: false, // it brings an inline style, which the policy forbids; the page links to its makers
      background: { color: "transparent" },
      textColor: colour("--soft"),
      fontFamily: "system-ui, sans-serif",
      panes: { separatorColor: colour("--line") },
    },
    grid: { vertLines: { visible: false }, horzLines: { color: colour("--line") } },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderColor: colour("--line"), timeVisible: unit < 86400, secondsVisible: false },
  });

  const draw = (bars) => {
    const drawing = figure.querySelector("svg");
    const box = document.createElement("div");
    box.className = "candles";
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", drawing.getAttribute("aria-label"));
    drawing.replaceWith(box);
    const chart = createChart(box, { autoSize: true, ...looks() });
    const digits = (value) => (verdict.price(value).split(".")[1] ?? "").length;
    const precision = Math.max(2, ...bars.slice(-20).map((bar) => digits(bar[CLOSE])));
    const candles = chart.addSeries(CandlestickSeries, {
      priceFormat: { type: "price", precision, minMove: 10 ** -precision },
    });
    const volume = chart.addSeries(HistogramSeries, { priceFormat: { type: "custom", formatter: money } }, 1);
    // The library joins the points of a series across unknown ones: a line ends at each gap, and another one follows.
    const lines = [];
    const drawLine = (place, formatter, pane) => {
      const parts = [[]];
      for (const bar of bars) {
        if (bar[place] !== null) parts.at(-1).push({ time: bar[AT], value: bar[place] });
        else if (parts.at(-1).length) parts.push([]);
      }
      if (parts.length > 1 && !parts.at(-1).length) parts.pop();
      parts.forEach((part, index) => {
        const isLast = index === parts.length - 1;
        const looks = { lineWidth: 1, lastValueVisible: isLast, priceLineVisible: isLast, priceFormat: { type: "custom", formatter } };
        const line = chart.addSeries(LineSeries, looks, pane);
        line.setData(part);
        lines.push(line);
      });
    };
    candles.setData(bars.map((bar) => ({ time: bar[AT], open: bar[OPEN], high: bar[HIGH], low: bar[LOW], close: bar[CLOSE] })));
    volume.setData(bars.map((bar) => ({ time: bar[AT], value: bar[VOLUME] })));
    drawLine(FUNDING, verdict.percent, 2);
    if (bars.some((bar) => bar[INTEREST] !== null)) drawLine(INTEREST, money, 3);
    chart.panes().forEach((pane, place) => pane.setStretchFactor(place ? 1 : 4));
    chart.timeScale().fitContent();

    let benchmark = null;
    const paint = () => {
      const [up, down] = [colour("--up"), colour("--down")];
      chart.applyOptions(looks());
      candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false });
      volume.applyOptions({ color: colour("--hold-fill") });
      for (const line of lines) line.applyOptions({ color: colour("--ink") });
      if (benchmark) benchmark.applyOptions({ color: colour("--link") });
    };
    paint();
    dark.addEventListener("change", paint);

    const log = document.getElementById("log");
    const versus = document.getElementById("versus");
    const scale = () => {
      const mode = benchmark ? PriceScaleMode.Percentage : log.checked ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal;
      chart.priceScale("right").applyOptions({ mode });
      log.disabled = Boolean(benchmark);
    };
    log.addEventListener("change", scale);
    versus?.addEventListener("change", async () => {
      if (benchmark) {
        chart.removeSeries(benchmark);
        benchmark = null;
      } else {
        const times = new Set(bars.map((bar) => bar[AT]));
        const closes = (await load("BTC")).filter((bar) => times.has(bar[AT]));
        if (!versus.checked || benchmark || !closes.length) return; // switched off, or drawn, while it was loaded
        benchmark = chart.addSeries(LineSeries, { title: "BTC", lineWidth: 2 });
        benchmark.setData(closes.map((bar) => ({ time: bar[AT], value: bar[CLOSE] })));
        paint();
      }
      scale();
    });
    const pointed = document.getElementById("pointed");
    const byTime = new Map(bars.map((bar) => [bar[AT], bar]));
    chart.subscribeCrosshairMove(({ time }) => {
      const bar = byTime.get(time);
      const untilMs = (time + unit) * 1000;
      const until = bar && (untilMs > Date.now() ? "so far" : new Date(untilMs).toISOString().slice(0, 16).replace("T", " "));
      pointed.textContent = bar
        ? `${until}: ${verdict.price(bar[CLOSE])} USD, volume ${money(bar[VOLUME])}${bar[FUNDING] === null ? "" : `, funding ${verdict.percent(bar[FUNDING])} a year`}`
        : "";
    });
    figure.querySelector(".controls").hidden = false;
    document.getElementById("chart-by").hidden = false;
    document.documentElement.classList.add("scripted");
  };

  load(symbol).then((bars) => bars.length > 1 && draw(bars));
})();
