// The caller's own quota and receipts. Nothing asked here costs a question: HEAD of a counted route only says what is left.
"use strict";

(() => {
  const show = (id, shown) => (document.getElementById(id).hidden = !shown);
  const out = (name) => document.querySelector(`[data-out="${name}"]`);
  const refused = document.getElementById("refused");

  const askForToken = (words = "") => {
    show("sign-in", true);
    for (const section of ["standing", "alerts", "receipts"]) show(section, false);
    refused.textContent = words;
    refused.hidden = !words;
    if (words) document.getElementById("token").focus();
  };

  const parameter = (field, name) => {
    const found = new RegExp(`;${name}=(\\d+)`).exec(field || "");
    return found && Number(found[1]);
  };

  const fact = (name, value, more) => {
    const box = document.createElement("div");
    const figure = verdict.element("dd", value);
    if (more) figure.append(" ", verdict.element("small", more));
    box.append(verdict.element("dt", name), figure);
    return box;
  };

  const tellStanding = (tier, looked) => {
    const [policy, left] = [looked.headers.get("RateLimit-Policy"), looked.headers.get("RateLimit")];
    const [most, rest, again] = [parameter(policy, "q"), parameter(left, "r"), parameter(left, "t")];
    const facts = [fact("Plan", tier.tier, tier.source === "default" ? "" : `by ${tier.source}`)];
    if (rest === null) facts.push(fact("Questions", "no limit"));
    else facts.push(fact("Questions left", String(rest), `of ${most}${parameter(policy, "w") ? " a day" : " to start with"}`));
    if (again !== null) facts.push(fact("Next one", `in ${verdict.written(again)}`));
    if (tier.expiresAt) facts.push(fact("Until", tier.expiresAt.slice(0, 10)));
    out("standing").replaceChildren(...facts);
    const wallet = tier.identity.walletAddress ? `, wallet ${tier.identity.walletAddress}` : "";
    out("who").textContent = `User ${tier.identity.userId}, by ${tier.identity.kind === "api_key" ? "an API key" : "a session"}${wallet}.`;
  };

  const tellReceipts = (receipts) => {
    const rows = receipts.map((one) => {
      const row = document.createElement("tr");
      const when = verdict.element("th", one.settled_at.slice(0, 16).replace("T", " "));
      when.scope = "row";
      row.append(when, verdict.element("td", one.route), verdict.element("td", one.price_usdc, "num"), verdict.element("td", one.id, "mono"));
      return row;
    });
    out("receipts").replaceChildren(...rows);
    out("receipts").closest(".scroll").hidden = !rows.length;
    out("none").hidden = rows.length > 0;
  };

  const load = async () => {
    let answers;
    try {
      answers = await Promise.all([
        verdict.ask("/api/cli/billing/tier"),
        verdict.ask("/api/cli/regime", { method: "HEAD" }),
        verdict.ask("/api/receipts?limit=50"),
      ]);
    } catch {
      askForToken("The service cannot be reached.");
      return;
    }
    const [tier, looked, receipts] = answers;
    if (!tier.ok) {
      if (tier.status === 401) verdict.token.forget();
      askForToken(await verdict.reason(tier));
      return;
    }
    tellStanding((await tier.json()).data, looked);
    tellReceipts(receipts.ok ? (await receipts.json()).receipts : []);
    show("sign-in", false);
    for (const section of ["standing", "alerts", "receipts"]) show(section, true);
    await alerts.load();
  };

  const enter = (token) => {
    verdict.token.keep(token);
    refused.hidden = true;
    return load();
  };

  document.querySelector("#sign-in form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    const text = field.value.trim();
    field.value = "";
    if (/^[\x21-\x7e]{10,4096}$/.test(text)) enter(text);
    else askForToken("That is no key: paste it whole.");
  });

  document.getElementById("sign-out").addEventListener("click", async () => {
    // A key lives on; a session ends at the service, too. Whether that hears of it or not, this tab forgets it.
    const isSession = verdict.token.get().startsWith("eyJ");
    if (isSession) await verdict.ask("/api/auth/logout", { method: "POST" }).catch(() => null);
    verdict.token.forget();
    askForToken();
    document.getElementById("token").focus();
  });

  const say = (words) => (document.getElementById("status").textContent = words);
  const choice = ({ name, provider }) => {
    const button = verdict.element("button", `Sign in with ${name}`, "button");
    button.type = "button";
    button.addEventListener("click", async () => {
      try {
        const session = await wallets.signIn(provider, say);
        await enter(session.token);
      } catch (error) {
        askForToken(wallets.reason(error));
      } finally {
        say("");
      }
    });
    return button;
  };
  wallets.watch(() => {
    document.getElementById("wallets").replaceChildren(...wallets.all().map(choice));
    show("without", !wallets.all().length);
  });

  if (verdict.token.get()) load();
  else askForToken();
})();
