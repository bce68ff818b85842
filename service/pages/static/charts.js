// Draws the charts anew, to be pointed at, from the very tables that stand below them.
"use strict";

(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const rowsOf = (id) =>
    [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => [
      Number(row.dataset.t),
      ...row.dataset.v.split(",").map(Number),
    ]);

  const columns = (rows) => rows[0].map((_, place) => rows.map((row) => row[place]));

  const shortDate = (seconds) =>
    new Date(seconds * 1000).toLocaleString("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });

  const axes = (size, unit) => [
    {
      stroke: colour("--soft"),
      grid: { show: false },
      ticks: { show: false },
      font: "12px system-ui",
      size: 32,
      gap: 10,
      space: 64,
      values: (_, splits) => splits.map(shortDate),
    },
    {
      stroke: colour("--soft"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui",
      size,
      values: (_, splits) => splits.map((value) => value.toLocaleString("en-US", { maximumSignificantDigits: 6 }) + unit),
    },
  ];

  const legendOf = (figure) => {
    const told = document.createElement("figcaption");
    told.className = "small soft told";
    figure.append(told);
    return told;
  };

  const dateOf = (seconds, hours) =>
    new Date(seconds * 1000).toISOString().slice(0, hours ? 16 : 10).replace("T", " ");

  const tell = (told, words) => ({ setCursor: [(plot) => (told.textContent = words(plot.cursor.idx))] });

  const base = (figure, height) => ({
    width: figure.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [8, 4, 0, 0],
  });

  const drawers = {
    breadth(figure, rows) {
      const [t, up, rest, crossed] = columns(rows);
      const told = legendOf(figure);
      const words = (place) =>
        place === null
          ? ""
          : `${dateOf(t[place])}: ${up[place].toFixed(1)} % UP, ${(100 - rest[place]).toFixed(1)} % DOWN` +
            (crossed[place] ? ", crossing" : "");
      const marks = (plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.strokeStyle = colour("--ink");
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
        crossed.forEach((is, place) => {
          if (!is) return;
          const x = Math.round(plot.valToPos(t[place], "x", true));
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        });
        // The market's regimes as a strip along the bottom, from the drawing that it stands in there.
        const scale = bbox.width / 600;
        const high = 5 * devicePixelRatio;
        for (const band of document.querySelectorAll(".bands rect")) {
          ctx.fillStyle = getComputedStyle(band).fill;
          const [x, width] = [band.x.baseVal.value * scale, band.width.baseVal.value * scale];
          ctx.fillRect(bbox.left + x, bbox.top + bbox.height + devicePixelRatio, width, high);
        }
        ctx.restore();
      };
      const area = (fill) => ({ fill: colour(fill), width: 0, points: { show: false } });
      return [
        {
          ...base(figure, 300),
          scales: { y: { range: [0, 100] } },
          axes: axes(46, " %"),
          series: [{}, area("--down-fill"), area("--hold-fill"), area("--up-fill")],
          hooks: { ...tell(told, words), draw: [marks] },
        },
        [t, t.map(() => 100), rest, up],
      ];
    },
  };

  const draw = (figure) => {
    const rows = rowsOf(figure.dataset.of);
    figure.querySelectorAll("figcaption, .uplot").forEach((old) => old.remove());
    const [options, data] = drawers[figure.dataset.plot](figure, rows);
    const drawn = figure.querySelector("svg");
    const box = document.createElement("div");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", drawn.getAttribute("aria-label"));
    figure.querySelectorAll("div").forEach((old) => old.remove());
    figure.prepend(box);
    drawn.setAttribute("hidden", "");
    drawn.style.display = "none";
    const plot = new uPlot(options, data, box);
    figure.plot = plot;
  };

  document.documentElement.classList.add("scripted");
  const figures = [...document.querySelectorAll("figure[data-plot]")];
  const drawAll = () => figures.forEach(draw);
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.plot && target.plot.width !== target.clientWidth)
        target.plot.setSize({ width: target.clientWidth, height: target.plot.height });
    }
  });
  figures.forEach((figure) => resized.observe(figure));
})();
