// Following the market live, for those who are signed in.
"use strict";

(() => {
  const card = document.getElementById("live");
  const state = card.querySelector('[data-live="state"]');
  const out = card.querySelector('[data-live="out"]');
  card.hidden = false;

  if (!verdict.token.get()) {
    const said = verdict.element("p", "", "small");
    const link = verdict.element("a", "Sign in");
    link.href = "/account";
    said.append(link, " to follow prices, funding, regime, sentiment, alerts or crossings as they happen.");
    out.append(said);
    return;
  }

  const STREAMS = ["prices", "funding", "regime", "sentiment", "alerts", "crossings"];
  const MOST = 8;
  const choice = verdict.element("select", "", "field");
  choice.id = "stream";
  for (const name of STREAMS) choice.append(new Option(name, name));
  const label = verdict.element("label", "Stream");
  label.htmlFor = "stream";
  const button = verdict.element("button", "Follow: costs one question", "button");
  button.type = "button";
  const controls = verdict.element("div", "", "controls");
  const told = verdict.element("ol", "", "rows small told");
  controls.append(label, choice, button);
  out.append(controls, told);

  const line = (event) => {
    const data = event.data;
    switch (event.stream) {
      case "prices":
        return `${Object.keys(data.prices).length} prices, written into the tables`;
      case "funding":
        return `${data.market.temperature}: mean ${data.market.avgApr} % a year, ${data.market.positive} above 0, ${data.market.negative} below`;
      case "regime":
        return `${data.length} open positions; surest: ${data.slice(0, 3).map((held) => `${held.symbol} ${held.direction}`).join(", ")}`;
      case "sentiment":
        return `${data.stance} (${data.score})`;
      case "alerts":
        return `${data.asset} ${data.triggerZone} at ${data.fundingAtTrigger} % a year`;
      default:
        return `${data.direction}: ${data.up} UP, ${data.down} DOWN`;
    }
  };

  const show = (event) => {
    if (event.stream === "prices") verdict.reprice(event.data.prices);
    const row = document.createElement("li");
    row.append(verdict.element("span", line(event)), verdict.element("span", event.meta.ts.slice(11, 19), "soft num"));
    told.prepend(row);
    while (told.children.length > MOST) told.lastChild.remove();
  };

  let ended = null;
  const stop = (words) => {
    if (ended) ended.abort();
    ended = null;
    state.textContent = words;
    button.textContent = "Follow: costs one question";
    button.classList.remove("quiet");
    choice.disabled = false;
  };

  const start = async () => {
    ended = new AbortController();
    const mine = ended;
    told.replaceChildren();
    button.textContent = "Stop";
    button.classList.add("quiet");
    choice.disabled = true;
    state.textContent = "connecting";
    let words = "The stream ended.";
    try {
      await verdict.follow(
        choice.value,
        (event) => {
          if (event.type === "open") state.textContent = `following ${event.stream}, live`;
          else if (event.type === "event") show(event);
          else if (event.type === "heartbeat") state.textContent = event.meta.live ? `following ${choice.value}, live` : "the upstream is silent";
          else if (event.type === "error") words = event.error.message;
          else if (event.type === "close") words = `The stream ended: ${event.reason}.`;
        },
        mine.signal,
      );
    } catch (error) {
      words = error.message;
    }
    if (ended === mine) stop(words);
  };

  button.addEventListener("click", () => (ended ? stop("not following") : start()));
})();
