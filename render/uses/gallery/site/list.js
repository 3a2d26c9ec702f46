// The list: search and filters on the left, a page of cards on the right.
"use strict";

Gallery.list = (() => {
  const { make } = Gallery;
  const PAGE = 60;
  const root = () => document.getElementById("list");
  const boxes = {};
  let parts = null;
  let state = null;
  let typing = 0;

  function go(change, replace = false) {
    const next = { ...state, page: 1, ...change };
    const address = `#?${Gallery.search.query(next)}`;
    if (address === (location.hash || "#?")) return;
    history[replace ? "replaceState" : "pushState"](null, "", address);
    // Now, not at the event of a changed address: a second filter chosen before it would undo the first.
    Gallery.route();
  }

  function facet(name) {
    const { label, hint } = Gallery.search.FACETS[name];
    const words = Gallery.data.head.words[name];
    if (!words.length || (words.length === 1 && (name === "stage" || name === "benchmark"))) return null;
    const order = words.map((_, index) => index);
    order.sort((a, b) => words[a].localeCompare(words[b], "en", { numeric: true }));
    boxes[name] = order.map((index) => choice(name, words[index], index));
    const legend = make("legend", {}, label, hint ? make("small", {}, ` ${hint}`) : null);
    return make("fieldset", { class: "facet" }, legend, make("div", { class: "choices" }, boxes[name].map((b) => b.label)));
  }

  function choice(name, word, index) {
    const input = make("input", { type: "checkbox", value: word });
    input.addEventListener("change", () => {
      const chosen = new Set(state.chosen[name]);
      if (input.checked) chosen.add(word);
      else chosen.delete(word);
      go({ chosen: { ...state.chosen, [name]: chosen } });
    });
    const count = make("span", { class: "count" });
    const shown = word.replace(/\b([0-9a-f]{6})[0-9a-f]{26}\b/, "$1…"); // the id of a model
    const rgb = name === "color" ? Gallery.data.head.palette[word] : null;
    const dot = rgb ? make("span", { class: "dot", "aria-hidden": "true" }) : null;
    if (dot) dot.style.background = `rgb(${rgb.join(" ")})`;
    return { input, count, word, index, label: make("label", {}, input, dot, make("span", { class: "word", title: word }, shown), count) };
  }

  function build() {
    const search = make("input", { type: "search", id: "q", autocomplete: "off", spellcheck: "false", "aria-describedby": "q-hint" });
    search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => root().hidden || go({ q: search.value }, true), 160);
    });
    const sort = make("select", { id: "sort" });
    for (const [name, { label }] of Object.entries(Gallery.search.SORTS)) sort.append(make("option", { value: name }, label));
    sort.addEventListener("change", () => go({ sort: sort.value }));
    const clear = make("button", { type: "button", class: "quiet", onclick: () => go(Gallery.search.parse("")) }, "Clear all");
    const facets = Object.keys(Gallery.search.FACETS).map(facet);
    const filters = make(
      "form",
      { class: "filters", role: "search", "aria-label": "Episodes", onsubmit: (event) => event.preventDefault() },
      make("div", { class: "field" }, make("label", { for: "q" }, "Search ", make("kbd", {}, "/")), search),
      make("p", { id: "q-hint", class: "hint" }, "Part of a name or utterance, or an object: red metal cube"),
      make("div", { class: "field" }, make("label", { for: "sort" }, "Sort by"), sort),
      make("details", { class: "more", open: matchMedia("(min-width: 60rem)").matches }, make("summary", {}, "Filters"), facets, clear),
    );
    const title = make("h1", { id: "list-title", tabindex: "-1" }, "Episodes");
    const cards = make("ul", { class: "cards" });
    const pager = make("nav", { class: "pager", "aria-label": "Pages" });
    const empty = make("p", { class: "notice", hidden: true }, "No episode matches. Remove a filter or search for less.");
    root().append(filters, make("div", { class: "results" }, title, cards, empty, pager));
    parts = { search, sort, clear, title, cards, pager, empty };
  }

  function describe(row) {
    const { data } = Gallery;
    const shapes = data.words("shape", row);
    const colors = data.words("color", row);
    const what = [shapes.join(", "), colors.join(", ")].filter(Boolean).join("; ");
    return `${Gallery.plural(data.column("images")[row], "image")}${what ? ` with ${what}` : ""}`;
  }

  function card(row) {
    const { data } = Gallery;
    const id = data.column("id")[row];
    const kind = [data.word("benchmark", row), data.word("task", row), data.word("split", row)].filter((word) => word !== null);
    const failed = data.words("checks", row);
    const { show, column } = Gallery.search.SORTS[state.sort];
    const figure = show ? data.column(column)[row] : null;
    const thumbnail = data.thumbnail(row);
    const picture = thumbnail
      ? make("img", { src: thumbnail, alt: describe(row), loading: "lazy", decoding: "async" })
      : make("span", { class: "none" }, "can’t be read");
    return make(
      "li",
      {},
      make(
        "a",
        { class: "card", href: Gallery.addressOf(id, state), "data-row": row },
        make("span", { class: "frame" }, picture),
        make("span", { class: "name" }, id.split("/").flatMap((part, place) => (place ? ["/", make("wbr", {}), part] : [part]))),
        make(
          "span",
          { class: "meta" },
          kind.length ? kind.join(" · ") : data.word("stage", row),
          figure !== null && figure !== "" ? make("span", { class: "figure" }, show(figure)) : null,
          failed.length ? make("span", { class: "failed" }, `failed: ${failed.join(", ")}`) : null,
        ),
      ),
    );
  }

  function pages(count) {
    const last = Math.max(1, Math.ceil(count / PAGE));
    const { page } = state;
    const to = (number, label, rel) =>
      number < 1 || number > last || number === page
        ? make("span", { class: "off", "aria-hidden": "true" }, label)
        : make("a", { href: `#?${Gallery.search.query(state, number)}`, rel }, label);
    parts.pager.replaceChildren(
      to(1, "First"),
      to(page - 1, "Previous", "prev"),
      make("span", { "aria-current": "page" }, `Page ${Gallery.number(page)} of ${Gallery.number(last)}`),
      to(page + 1, "Next", "next"),
      to(last, "Last"),
    );
    parts.pager.hidden = last === 1;
  }

  function show(next, focus) {
    if (!parts) build();
    state = next;
    const { rows, counts } = Gallery.search.result(state);
    state.page = Math.min(state.page, Math.max(1, Math.ceil(rows.length / PAGE)));
    if (document.activeElement !== parts.search) parts.search.value = state.q;
    parts.sort.value = state.sort;
    for (const [name, choices] of Object.entries(boxes)) {
      for (const { input, count, word, index, label } of choices) {
        input.checked = state.chosen[name].has(word);
        count.textContent = Gallery.number(counts[name][index]);
        label.classList.toggle("nothing", !counts[name][index] && !input.checked);
      }
    }
    parts.clear.hidden = !Gallery.search.query(state, 1);
    parts.cards.replaceChildren(...rows.slice((state.page - 1) * PAGE, state.page * PAGE).map(card));
    parts.empty.hidden = rows.length > 0;
    pages(rows.length);
    const all = Gallery.data.count;
    const text = rows.length === all ? Gallery.plural(all, "episode") : `${Gallery.number(rows.length)} of ${Gallery.plural(all, "episode")}`;
    document.getElementById("status").textContent = text;
    document.title = Gallery.data.head.title;
    if (focus) parts.title.focus({ preventScroll: true });
  }

  const links = () => [...parts.cards.querySelectorAll("a.card")];

  // Moves the focus between cards; direction: left, right, up, down.
  function move(direction) {
    const all = links();
    const at = all.indexOf(document.activeElement);
    if (!all.length) return;
    if (at < 0) return all[0].focus();
    const top = all[0].getBoundingClientRect().top;
    const perRow = Math.max(1, all.filter((link) => Math.abs(link.getBoundingClientRect().top - top) < 4).length);
    const to = at + { left: -1, right: 1, up: -perRow, down: perRow }[direction];
    if (to >= 0 && to < all.length) all[to].focus();
  }

  return {
    show,
    move,
    focusSearch: () => parts.search.focus(),
    turn: (by) => go({ page: Math.max(1, state.page + by) }),
    focusRow: (row) => links().find((link) => Number(link.dataset.row) === row)?.focus(),
  };
})();
