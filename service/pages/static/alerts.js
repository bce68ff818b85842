// The caller's alert rules and their messages: listed, added, tested and removed with their own token.
"use strict";

const alerts = (() => {
  const out = (name) => document.querySelector(`[data-out="${name}"]`);
  const tell = (name, words) => {
    out(name).textContent = words;
    out(name).hidden = !words;
  };

  // Ask the service and show its refusal; null where it refused or cannot be reached.
  const ask = async (path, options) => {
    tell("alert-told", "");
    tell("alert-refused", "");
    try {
      const response = await verdict.ask(path, options);
      if (response.ok) return await response.json();
      tell("alert-refused", await verdict.reason(response));
    } catch {
      tell("alert-refused", "The service cannot be reached.");
    }
    return null;
  };

  const button = (name, about, act) => {
    const made = verdict.element("button", name, "button quiet");
    made.type = "button";
    made.setAttribute("aria-label", `${name}: ${about}`);
    made.addEventListener("click", act);
    return made;
  };

  const row = (first, ...cells) => {
    const made = document.createElement("tr");
    const head = verdict.element("th", first);
    head.scope = "row";
    made.append(head, ...cells);
    return made;
  };

  const test = async (alert) => {
    if (!(await ask(`/api/alerts/test?id=${alert.id}`, { method: "POST" }))) return;
    await load();
    tell("alert-told", "A test message is on its way. Its delivery is listed below.");
  };

  const remove = async (alert) => {
    if (!(await ask(`/api/alerts?id=${alert.id}`, { method: "DELETE" }))) return;
    await load();
    tell("alert-told", `Removed: ${alert.rule}.`);
  };

  const alertRow = (alert) => {
    const actions = document.createElement("td");
    actions.append(button("Test", alert.rule, () => test(alert)), " ", button("Remove", alert.rule, () => remove(alert)));
    return row(alert.rule, verdict.element("td", alert.state || "—"), verdict.element("td", alert.to, "mono"), actions);
  };

  const deliveryRow = (delivery) => {
    const status = delivery.error ? `${delivery.status}: ${delivery.error}` : delivery.status;
    const when = delivery.created_at.slice(0, 16).replace("T", " ");
    return row(when, verdict.element("td", delivery.message), verdict.element("td", status));
  };

  const load = async () => {
    const [rules, messages] = await Promise.all([ask("/api/alerts"), ask("/api/alerts/deliveries?limit=20")]);
    if (!rules || !messages) return;
    out("alerts").replaceChildren(...rules.alerts.map(alertRow));
    out("alerts").closest(".scroll").hidden = !rules.alerts.length;
    out("no-alerts").hidden = rules.alerts.length > 0;
    out("deliveries").replaceChildren(...messages.deliveries.map(deliveryRow));
    document.getElementById("deliveries").hidden = !messages.deliveries.length;
  };

  const [rule, target] = [document.getElementById("rule"), document.getElementById("target")];
  document.querySelector("#alerts form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = JSON.stringify({ rule: rule.value.trim(), to: target.value.trim() });
    const made = await ask("/api/alerts", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (!made) return;
    rule.value = target.value = "";
    await load();
    const secret = made.secret ? ` Its requests are signed (Standard Webhooks) with the secret ${made.secret}` : "";
    tell("alert-told", `Added: ${made.rule}.${secret}`);
  });

  return { load };
})();
