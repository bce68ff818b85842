// The reference is whole without this: here it is searched, and its lines are copied.
"use strict";

(() => {
  const contents = document.querySelector(".contents");
  const list = contents.querySelector("details");
  const narrow = matchMedia("(max-width: 860px)");
  list.open = !narrow.matches;

  const SAYS = 3; // so many letters say enough for what is folded to be opened

  // What is found: routes and schemas, by every word that stands in them.
  const field = document.getElementById("find");
  const found = document.getElementById("found");
  const said = document.getElementById("said");
  const places = [...document.querySelectorAll(".found")].map((place) => ({
    place,
    entry: contents.querySelector(`[href="#${CSS.escape(place.id)}"]`)?.parentElement,
    words: place.textContent.toLowerCase(),
    folded: place.matches("details") ? [place] : [...place.querySelectorAll("details")],
  }));
  const parts = [...document.querySelectorAll(".parts > section")];
  field.closest("p").hidden = false;

  const count = (kind) => {
    const shown = places.filter(({ place }) => place.dataset.kind === kind && !place.hidden).length;
    return `${shown} ${kind}${shown === 1 ? "" : "s"}`;
  };

  const find = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const { place, entry, words, folded } of places) {
      place.hidden = !words.includes(wanted);
      if (entry) entry.hidden = place.hidden;
      for (const part of folded) part.open = wanted.length >= SAYS && part.textContent.toLowerCase().includes(wanted);
    }
    for (const part of parts) part.hidden = wanted !== "" && !part.querySelector(".found:not([hidden])");
    found.textContent = wanted ? `${count("route")}, ${count("schema")}` : "";
  };
  field.addEventListener("input", find);

  field.addEventListener("keydown", (event) => {
    const first = places.find(({ place }) => !place.hidden);
    if (event.key !== "Enter" || !first) return;
    event.preventDefault(); // else the key goes on to what it has led to, and folds it
    first.place.scrollIntoView();
    (first.place.querySelector(":scope > summary") ?? first.place).focus({ preventScroll: true });
  });

  // A link to what the search has hidden ends the search, and then leads there.
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const place = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!place?.closest("[hidden]")) return;
    field.value = "";
    find();
  });

  document.querySelectorAll(".line").forEach((line, place) => {
    const text = line.textContent.trim();
    line.firstElementChild.id = `line-${place}`;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-describedby", `line-${place}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      said.textContent = "Copied";
    });
    button.addEventListener("blur", () => {
      button.textContent = "Copy";
      said.textContent = "";
    });
    line.append(button);
  });
})();
