// JSON as a tree to open and close, made as it is opened: a Scene may hold thousands of numbers.
"use strict";

Gallery.tree = (() => {
  const { make } = Gallery;
  const MOST = 200;

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
    const made = make("ul", { class: "tree" });
    const more = (from) => {
      made.append(...entries.slice(from, from + MOST).map(([key, item]) => node(key, item)));
      const left = entries.length - from - MOST;
      if (left <= 0) return;
      const button = make("button", { type: "button", class: "quiet" }, `${left} more`);
      const row = make("li", {}, button);
      button.addEventListener("click", () => (row.remove(), more(from + MOST)));
      made.append(row);
    };
    more(0);
    return made;
  }

  // A closed <details> of a value, with a button that copies it.
  return (title, value, open = false) => {
    const copy = make("button", { type: "button", class: "quiet" }, "Copy as JSON");
    copy.addEventListener("click", () => Gallery.copy(JSON.stringify(value, null, 1), copy));
    const whole = make("details", { class: "json" }, make("summary", {}, title));
    const unfold = () => whole.children.length < 2 && whole.append(copy, isLeaf(value) ? leaf(value) : list(value));
    whole.addEventListener("toggle", unfold);
    if (open) {
      unfold();
      whole.open = true;
    }
    return whole;
  };
})();
