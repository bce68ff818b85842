// The key / goes to the search of the page: the filter of the table of coins, or the search in the header.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const filter = document.getElementById("filter");
  event.preventDefault();
  (filter && filter.checkVisibility() ? filter : document.getElementById("search")).focus();
});
