(() => {
  "use strict";
  const tools = document.querySelector(".tools");
  if (!tools) return;
  const search = tools.querySelector("input[type=search]");
  const boxes = [...tools.querySelectorAll("input[type=checkbox]")];
  const matches = tools.querySelector(".matches");
  const groups = [...document.querySelectorAll(".group")];
  const entries = new Map();
  for (const link of document.querySelectorAll(".contents .list a")) entries.set(link.hash.slice(1), link.parentElement);
  const items = [...document.querySelectorAll("#findings .finding")].map((node) => ({
    node,
    entry: entries.get(node.id),
    text: "",
  }));
  const textOf = (item) => (item.text ||= item.node.textContent.toLowerCase());

  const apply = () => {
    const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of items) {
      const fits = severities.has(item.node.dataset.severity) && words.every((word) => textOf(item).includes(word));
      item.node.hidden = !fits;
      if (item.entry) item.entry.hidden = !fits;
      count += fits;
    }
    for (const group of groups) group.hidden = !group.querySelector(".finding:not([hidden])");
    matches.textContent = count === items.length ? "" : `${count} of ${items.length} findings shown`;
  };

  // a link to a finding must lead to it even when the filter hides it
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target?.hidden) return;
    search.value = "";
    for (const box of boxes) box.checked = true;
    apply();
    target.scrollIntoView();
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  tools.addEventListener("change", apply);
  tools.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", reveal);
  tools.hidden = false;
  apply();
})();
