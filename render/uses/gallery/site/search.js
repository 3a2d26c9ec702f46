// Search, filters and order of the list. The URL holds them, so that links, bookmarks and the back button work.
"use strict";

Gallery.search = (() => {
  // any: an episode has any of the chosen words, otherwise all of them. set: an episode may have several words.
  const FACETS = {
    benchmark: { label: "Benchmark", any: true },
    task: { label: "Task", any: true },
    split: { label: "Split", any: true },
    stage: { label: "Stage", any: true },
    shape: { label: "Shape", hint: "all of these" },
    color: { label: "Color", hint: "all of these" },
    material: { label: "Material", hint: "all of these" },
    checks: { label: "Failed checks", any: true, set: true },
  };
  const SORTS = {
    id: { label: "Name", column: "id" },
    visible: { label: "Smallest visible fraction", column: "visible", show: (v) => `${Gallery.percent(v)} visible` },
    slow: { label: "Longest to render", column: "seconds", down: true, show: Gallery.seconds },
    fast: { label: "Shortest to render", column: "seconds", show: Gallery.seconds },
    new: { label: "Newest", column: "created", down: true, show: (v) => v.replace("T", " ") },
    old: { label: "Oldest", column: "created", show: (v) => v.replace("T", " ") },
    many: { label: "Most objects", column: "objects", down: true, show: (v) => Gallery.plural(v, "object") },
    few: { label: "Fewest objects", column: "objects", show: (v) => Gallery.plural(v, "object") },
    images: { label: "Most images", column: "images", down: true, show: (v) => Gallery.plural(v, "image") },
  };
  let last = { key: null, result: null };

  function parse(query) {
    const params = new URLSearchParams(query);
    const state = { q: params.get("q") || "", sort: params.get("sort") || "id", page: 1, chosen: {} };
    if (!Object.hasOwn(SORTS, state.sort)) state.sort = "id";
    state.page = Math.max(1, Math.floor(Number(params.get("page"))) || 1);
    for (const facet of Object.keys(FACETS)) state.chosen[facet] = new Set(params.getAll(facet));
    return state;
  }

  function query(state, page = state.page) {
    const params = new URLSearchParams();
    if (state.q) params.set("q", state.q);
    for (const [facet, values] of Object.entries(state.chosen)) for (const value of values) params.append(facet, value);
    if (state.sort !== "id") params.set("sort", state.sort);
    if (page > 1) params.set("page", page);
    return params.toString();
  }

  // Returns row -> whether its id, its texts or one of its objects matches the query.
  function matcher(text, searched) {
    const typed = text.trim().toLowerCase();
    if (!typed) return () => true;
    const ids = Gallery.data.column("id");
    const words = typed.split(/[\s_-]+/);
    const described = Gallery.data.head.words.things.map((object) => {
      const parts = object.toLowerCase().split(/[\s-]+/);
      return words.every((word) => parts.includes(word));
    });
    return (row) =>
      ids[row].toLowerCase().includes(typed) ||
      searched.text[row].includes(typed) ||
      searched.things[row].some((object) => described[object]);
  }

  // For each facet: row -> whether the row passes its filter, or null if nothing is chosen.
  function gates(state) {
    const { head } = Gallery.data;
    return Object.entries(FACETS).map(([facet, { any, set }]) => {
      const chosen = [...state.chosen[facet]].map((word) => head.words[facet].indexOf(word));
      if (!chosen.length) return null;
      const column = Gallery.data.column(facet);
      // -1 stands for no word in a column, and for an unknown word in a URL.
      if (any && !set) return (row) => column[row] >= 0 && chosen.includes(column[row]);
      const passes = head.sets[facet].map((members) =>
        any ? chosen.some((word) => members.includes(word)) : chosen.every((word) => members.includes(word)),
      );
      return (row) => passes[column[row]];
    });
  }

  function counted() {
    const { head } = Gallery.data;
    return Object.fromEntries(Object.keys(FACETS).map((facet) => [facet, new Uint32Array(head.words[facet].length)]));
  }

  function tally(counts, facet, row) {
    const value = Gallery.data.column(facet)[row];
    if (!Object.hasOwn(Gallery.data.head.sets, facet)) {
      if (value >= 0) counts[facet][value] += 1;
      return;
    }
    for (const word of Gallery.data.head.sets[facet][value]) counts[facet][word] += 1;
  }

  function sorted(rows, state) {
    const { column, down } = SORTS[state.sort];
    if (column === "id") return rows;
    const values = Gallery.data.column(column);
    const sign = down ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (x === y) return a - b;
      // Episodes without a value are last in both directions.
      if (x === null || x === "") return 1;
      if (y === null || y === "") return -1;
      return x < y ? -sign : sign;
    });
  }

  // {rows, counts}: the rows in order, and facet -> number of episodes that each of its words would select.
  function result(state) {
    const key = query(state, 1);
    if (last.key === key) return last.result;
    const match = matcher(state.q, Gallery.data.searched);
    const names = Object.keys(FACETS);
    const checks = gates(state);
    const rows = [];
    const counts = counted();
    for (let row = 0; row < Gallery.data.count; row += 1) {
      const failed = checks.flatMap((gate, index) => (gate && !gate(row) ? [index] : []));
      if (failed.length > 1 || !match(row)) continue;
      if (!failed.length) {
        rows.push(row);
        for (const facet of names) tally(counts, facet, row);
      } else if (FACETS[names[failed[0]]].any) {
        // It would be in the list if this word were chosen, too.
        tally(counts, names[failed[0]], row);
      }
    }
    last = { key, result: { rows: sorted(rows, state), counts } };
    return last.result;
  }

  return { FACETS, SORTS, parse, query, result };
})();
