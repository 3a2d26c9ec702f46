// JSON as a collapsible tree. Nodes are created when they are opened, because a Scene may hold thousands of numbers.
"use strict";

Gallery.tree = (() => {
  const { make } = Gallery;
  const MAX_ITEMS = 200;

  const isLeaf = (value) => value === null || typeof value !== "object";
  const isFlat = (value) => Array.isArray(value) && value.length <= 16 && value.every(isLeaf);

  function leaf(value) {
    const kind = value === null ? "null" : typeof value;
    return make("span", { class: `value ${kind}` }, JSON.stringify(value));
  }

  function summary(value) {
    const count = Array.isArray(value) ? value.length : Object.keys(value).length;
    const name = Array.isArray(value) ? null : value.name || value.id;
    const hint = typeof name === "string" ? ` ${name}` : "";
    return Array.isArray(value) ? `[${count}]` : `{${count}}${hint}`;
  }

  function node(key, value) {
    const label = make("span", { class: "key" }, String(key));
    if (isLeaf(value)) return make("li", {}, label, ": ", leaf(value));
    if (isFlat(value)) {
      const items = value.flatMap((item, index) => (index ? [", ", leaf(item)] : [leaf(item)]));
      return make("li", {}, label, ": [", items, "]");
    }
    const inner = make("details", {}, make("summary", {}, label, " ", make("span", { class: "size" }, summary(value))));
    inner.addEventListener("toggle", () => inner.children.length < 2 && inner.append(list(value)));
    return make("li", {}, inner);
  }

  function list(value) {
    const entries = Object.entries(value);
    const tree = make("ul", { class: "tree" });
    const more = (from) => {
      tree.append(...entries.slice(from, from + MAX_ITEMS).map(([key, item]) => node(key, item)));
      const left = entries.length - from - MAX_ITEMS;
      if (left <= 0) return;
      const button = make("button", { type: "button", class: "quiet" }, `${left} more`);
      const row = make("li", {}, button);
      button.addEventListener("click", () => (row.remove(), more(from + MAX_ITEMS)));
      tree.append(row);
    };
    more(0);
    return tree;
  }

  // A closed <details> element of a value, with a button that copies it.
  return (title, value, open = false) => {
    const copy = make("button", { type: "button", class: "quiet" }, "Copy as JSON");
    copy.addEventListener("click", () => Gallery.copy(JSON.stringify(value, null, 1), copy));
    const details = make("details", { class: "json" }, make("summary", {}, title));
    const unfold = () => details.children.length < 2 && details.append(copy, isLeaf(value) ? leaf(value) : list(value));
    details.addEventListener("toggle", unfold);
    if (open) {
      unfold();
      details.open = true;
    }
    return details;
  };
})();
