// The price, live, for who is signed in and asks for it.
"use strict";

(() => {
  const quote = document.querySelector(".ticker");
  if (!verdict.token.get()) return;
  const button = verdict.element("button", "Follow live: costs one question", "button quiet follow");
  const state = verdict.element("span", "", "small soft");
  state.setAttribute("role", "status");
  button.type = "button";
  quote.after(button, " ", state);
  let ended = null;

  button.addEventListener("click", async () => {
    if (ended) {
      ended.abort();
      return;
    }
    const mine = (ended = new AbortController());
    button.textContent = "Stop";
    let words = "The stream ended.";
    try {
      await verdict.follow(
        "prices",
        (event) => {
          if (event.type === "open") state.textContent = "live";
          else if (event.type === "event") verdict.reprice(event.data.prices);
          else if (event.type === "heartbeat") state.textContent = event.meta.live ? "live" : "the upstream is silent";
          else if (event.type === "error") words = event.error.message;
          else if (event.type === "close") words = `The stream ended: ${event.reason}.`;
        },
        mine.signal,
      );
    } catch (error) {
      words = mine.signal.aborted ? "" : error.message;
    }
    ended = null;
    state.textContent = words;
    button.textContent = "Follow live: costs one question";
  });
})();
