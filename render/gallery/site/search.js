// Which episodes, in which order: the state of the list, kept in the address so that it can be shared and gone back to.
"use strict";

Gallery.search = (() => {
  // label, and how several choices are meant: any of them, or all of them in one episode.
  const FACETS = {
    benchmark: { label: "Benchmark", any: true },
    task: { label: "Task", any: true },
    split: { label: "Split", any: true },
    stage: { label: "Stage", any: true },
    shape: { label: "Shape", hint: "all of these" },
    color: { label: "Colour", hint: "all of these" },
    material: { label: "Material", hint: "all of these" },
    checks: { label: "Failed checks", any: true, set: true },
  };
  const SORTS = {
    id: { label: "Name", column: "id" },
    visible: { label: "Smallest visible fraction", column: "visible", show: (v) => `${Gallery.percent(v)} visible` },
    slow: { label: "Longest to make", column: "seconds", down: true, show: Gallery.seconds },
    fast: { label: "Shortest to make", column: "seconds", show: Gallery.seconds },
    new: { label: "Newest", column: "created", down: true, show: (v) => v.replace("T", " ") },
    old: { label: "Oldest", column: "created", show: (v) => v.replace("T", " ") },
    many: { label: "Most objects", column: "objects", down: true, show: (v) => Gallery.plural(v, "object") },
    few: { label: "Fewest objects", column: "objects", show: (v) => Gallery.plural(v, "object") },
    images: { label: "Most pictures", column: "images", down: true, show: (v) => Gallery.plural(v, "picture") },
  };
  let last = { key: null, result: null };

  function parse(query) {
    const given = new URLSearchParams(query);
    const state = { q: given.get("q") || "", sort: given.get("sort") || "id", page: 1, chosen: {} };
    if (!Object.hasOwn(SORTS, state.sort)) state.sort = "id";
    state.page = Math.max(1, Math.floor(Number(given.get("page"))) || 1);
    for (const facet of Object.keys(FACETS)) state.chosen[facet] = new Set(given.getAll(facet));
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

  // A function row -> whether its id, its texts, or one of its objects has what was typed.
  function matcher(text, searched) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return () => true;
    const ids = Gallery.data.column("id");
    const words = wanted.split(/\s+/);
    const described = Gallery.data.head.words.things.map((thing) => {
      const parts = thing.toLowerCase().split(/[\s-]+/);
      return words.every((word) => parts.includes(word));
    });
    return (row) =>
      ids[row].toLowerCase().includes(wanted) ||
      searched.text[row].includes(wanted) ||
      searched.things[row].some((thing) => described[thing]);
  }

  // For each facet a function row -> whether it lets the row pass; null where nothing was chosen.
  function gates(state) {
    const { head } = Gallery.data;
    return Object.entries(FACETS).map(([facet, { any, set }]) => {
      const chosen = [...state.chosen[facet]].map((word) => head.words[facet].indexOf(word));
      if (!chosen.length) return null;
      const column = Gallery.data.column(facet);
      // No word is -1, in a column as in what was chosen: an address may name what is not here.
      if (any && !set) return (row) => column[row] >= 0 && chosen.includes(column[row]);
      const passes = head.sets[facet].map((members) =>
        any ? chosen.some((one) => members.includes(one)) : chosen.every((one) => members.includes(one)),
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
    for (const one of Gallery.data.head.sets[facet][value]) counts[facet][one] += 1;
  }

  function sorted(rows, state) {
    const { column, down } = SORTS[state.sort];
    if (column === "id") return rows;
    const values = Gallery.data.column(column);
    const sign = down ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (x === y) return a - b;
      // Episodes without the figure stand last, whichever way.
      if (x === null || x === "") return 1;
      if (y === null || y === "") return -1;
      return x < y ? -sign : sign;
    });
  }

  // {rows, counts}: the rows in order, and facet -> how many episodes each of its words would give.
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
        // Chosen as well, it would come in.
        tally(counts, names[failed[0]], row);
      }
    }
    last = { key, result: { rows: sorted(rows, state), counts } };
    return last.result;
  }

  return { FACETS, SORTS, parse, query, result };
})();
