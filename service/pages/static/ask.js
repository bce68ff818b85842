// The question box: streams the answer of POST /api/cli. A device without a token has one free question.
"use strict";

(() => {
  const DEVICE = "verdict.device";
  const SPENT = "verdict.device.spent";
  const MOST_CHARACTERS = 8000; // of all messages together (`service/wire/ask.py`)
  const form = document.getElementById("ask");
  const field = document.getElementById("question");
  const answer = document.getElementById("answer");
  const allowance = document.getElementById("allowance");
  const button = form.querySelector('button[type="submit"]');
  const earlier = []; // the conversation, so that the next question can be a follow-up
  let asked = null;
  form.hidden = false;

  const device = () => {
    if (!localStorage.getItem(DEVICE)) {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      localStorage.setItem(DEVICE, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
    }
    return localStorage.getItem(DEVICE);
  };

  const link = (text, path) => {
    const made = verdict.element("a", text);
    made.href = path;
    return made;
  };

  const showAllowance = () => {
    if (verdict.token.get()) {
      allowance.replaceChildren("Each answer with data costs one question. ", link("What is left", "/account"));
    } else if (localStorage.getItem(SPENT)) {
      allowance.replaceChildren(
        "This device's free question is spent. ",
        link("Sign in", "/account"),
        " for 10 more, then one a day; no payment needed.",
      );
    } else {
      allowance.textContent = "One free question on this device, without an account.";
    }
  };

  const nextStep = () => {
    const step = verdict.element("p", "", "note");
    step.append(
      "This device's free question is spent. ",
      link("Sign in with a wallet or an API key", "/account"),
      ": 10 questions free, then one a day. Or pay for single calls: ",
      link("how", "/docs"),
      ".",
    );
    return step;
  };

  // Each event of the stream (`event: NAME`, `data: JSON`, an empty line) to `heard`.
  const events = async (response, heard) => {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (waiting + value).split("\n\n");
      waiting = blocks.pop();
      for (const block of blocks) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/s.exec(block);
        heard(name, JSON.parse(data));
      }
    }
  };

  const paragraphs = (text) =>
    text
      .trim()
      .split("\n\n")
      .map((part) => verdict.element("p", part, /^(Read as|Sources):/.test(part) ? "small soft" : "told-text"));

  const show = (...parts) => {
    answer.hidden = false;
    answer.replaceChildren(...parts);
  };

  // The conversation as far as it fits: whole pairs of question and answer, the newest ones.
  const withEarlier = (question) => {
    const messages = [...earlier.slice(-8), { role: "user", content: question }];
    const length = () => messages.reduce((sum, { content }) => sum + [...content].length, 0);
    while (messages.length > 1 && length() > MOST_CHARACTERS) messages.splice(0, 2);
    return messages;
  };

  const ask = async (question) => {
    if (asked) asked.abort();
    const mine = (asked = new AbortController());
    const token = verdict.token.get();
    const body = { messages: withEarlier(question), ...(!token && { deviceId: device() }) };
    if (form.dataset.context) body.commandContext = form.dataset.context;
    const heading = verdict.element("p", question, "asked");
    show(heading, verdict.element("p", "Reading the data …", "soft"));
    answer.setAttribute("aria-busy", "true"); // announced once, when it is whole
    button.disabled = true;
    let [text, isDone] = ["", false];
    try {
      const response = await fetch("/api/cli", {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "text/event-stream",
          ...(token && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
        signal: mine.signal,
      });
      if (!response.ok) {
        const spent = !token && (response.status === 403 || response.status === 402);
        if (spent) localStorage.setItem(SPENT, "1");
        if (spent) form.classList.add("spent");
        show(heading, spent ? nextStep() : verdict.element("p", await verdict.reason(response), "note bad"));
        return;
      }
      await events(response, (name, data) => {
        if (name === "text") show(heading, ...paragraphs((text += data.text)));
        if (name === "done") isDone = true;
        if (name === "error") show(heading, ...paragraphs(text), verdict.element("p", data.error, "note bad"));
      });
      if (isDone) earlier.push({ role: "user", content: question }, { role: "assistant", content: text });
      if (!token && /^Sources:/m.test(text)) localStorage.setItem(SPENT, "1");
    } catch (error) {
      if (!mine.signal.aborted) show(heading, verdict.element("p", `No answer: ${error.message}.`, "note bad"));
    } finally {
      if (asked === mine) {
        answer.removeAttribute("aria-busy");
        button.disabled = false;
        showAllowance();
      }
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) ask(field.value.trim());
  });
  for (const chip of form.querySelectorAll(".chip")) {
    chip.addEventListener("click", () => {
      field.value = chip.textContent;
      ask(chip.textContent);
    });
  }
  showAllowance();
})();
