// Signs in for the command line, and goes back to where it waits.
"use strict";

(() => {
  const KEPT = "verdict.returning";
  const KEPT_MS = 10 * 60 * 1000;
  const part = (id) => document.getElementById(id);
  const { state, port } = part("sign-in").dataset;

  const say = (words) => (part("status").textContent = words);
  const fail = (words) => {
    part("failed").textContent = words;
    part("failed").hidden = !words;
  };

  // What the command line takes, by its callback or by hand.
  const written = ({ token, walletAddress, expiresAt, notice }) =>
    new URLSearchParams({ state, token, wallet: walletAddress, expiresAt, ...(notice && { notice }) }).toString();

  const back = (query) => (port ? `http://127.0.0.1:${port}/callback?${query}` : "");

  const finish = (query) => {
    part("sign-in").hidden = true;
    part("signed-in").hidden = false;
    part("who").textContent = new URLSearchParams(query).get("wallet");
    part("code").value = query;
    if (port) part("back").href = back(query);
    part("title").textContent = "You are signed in";
    part("title").focus();
  };

  // Going there fails where the terminal is on another machine; who comes back from that finds what to paste.
  const keep = (query) => sessionStorage.setItem(KEPT, JSON.stringify({ state, query, at: Date.now() }));
  const kept = () => {
    const found = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (found?.state === state && Date.now() - found.at < KEPT_MS) return found.query;
    sessionStorage.removeItem(KEPT);
    return null;
  };

  const buttons = () => [...part("wallets").querySelectorAll("button")];

  const signIn = async (provider) => {
    fail("");
    for (const button of buttons()) button.disabled = true;
    try {
      const query = written(await wallets.signIn(provider, say));
      keep(query);
      finish(query);
      if (port) location.assign(back(query));
    } catch (error) {
      fail(wallets.reason(error));
    } finally {
      say("");
      for (const button of buttons()) button.disabled = false;
    }
  };

  const choice = ({ name, provider }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = `Sign in with ${name}`;
    button.addEventListener("click", () => signIn(provider));
    return button;
  };

  const offer = () => {
    const found = wallets.all();
    part("wallets").replaceChildren(...found.map(choice));
    part("without").hidden = found.length > 0;
  };

  part("copy").addEventListener("click", async () => {
    part("code").select();
    const done = await navigator.clipboard?.writeText(part("code").value).then(() => true, () => false);
    part("copied").textContent = done ? "Copied." : "Press Ctrl+C or ⌘C to copy it.";
  });

  const before = kept();
  if (before) finish(before);
  else wallets.watch(offer);
})();
