// The index as columns, written by render/uses/gallery/search_index.py, and the data of single episodes, loaded on demand.
"use strict";

Gallery.data = (() => {
  const SETS = ["shape", "color", "material", "checks"];
  const CACHED_PAGES = 12;
  const INDEX = "The index can’t be loaded.";
  const columns = {};
  const pages = new Map();
  let head = null;
  let texts = null;
  let loading = null;
  let waiting = [];
  let rowOf = null;

  function take(number, chunk) {
    for (const [name, values] of Object.entries(chunk)) (columns[name] ||= [])[number] = values;
  }

  function flatten(names) {
    for (const name of names) columns[name] = (columns[name] || []).flat(1);
  }

  async function fetchTexts() {
    const base = document.querySelector('script[src^="data/"]').getAttribute("src").split("/").slice(0, 2).join("/");
    await Promise.all(head.texts.map((name) => Gallery.load(`${base}/${name}`)));
    const lower = waiting.flatMap((chunk) => chunk.text).map((text) => text.toLowerCase());
    texts = { text: lower, things: waiting.flatMap((chunk) => chunk.things) };
    waiting = [];
    return texts;
  }

  const folder = (row) => `episodes/${columns.key[row].slice(0, 3)}/${columns.key[row]}`;

  return {
    columns: take,
    column: (name) => columns[name],
    begin(facts) {
      head = facts;
      flatten(["id", "key", "images", "objects", "visible", "seconds", "created"]);
      flatten(["benchmark", "task", "split", "profile", "stage", ...SETS]);
      // A missing file would shift all rows after it.
      if (columns.id.length === facts.episodes) Gallery.start();
      else Gallery.fail(INDEX);
    },
    get head() {
      return head;
    },
    // Called when all scripts of the page have been loaded.
    loaded: () => head || Gallery.fail(INDEX),
    get count() {
      return head.episodes;
    },
    // The word of a row in a column with one word per row, or null.
    word: (name, row) => head.words[name][columns[name][row]] ?? null,
    // The words of a row in a column with a set per row.
    words: (name, row) => head.sets[name][columns[name][row]].map((index) => head.words[name][index]),
    setOf: (name, row) => head.sets[name][columns[name][row]],
    row(id) {
      rowOf ||= new Map(columns.id.map((id, row) => [id, row]));
      return rowOf.get(id);
    },
    thumbnail: (row) => (columns.key[row] ? `${folder(row)}/thumbnail.webp` : null),
    file: (row, name) => `${folder(row)}/${name}`,

    texts(number, chunk) {
      waiting[number] = chunk;
    },
    get searched() {
      return texts;
    },
    // {text: lower-case texts, things: lists of numbers} of all rows; loaded by the first call.
    loadTexts() {
      // Concurrent calls share one load; after an error the next call tries again.
      loading ||= fetchTexts().catch((error) => {
        loading = null;
        throw error;
      });
      return loading;
    },

    episode(key, page) {
      pages.set(key, page);
      if (pages.size > CACHED_PAGES) pages.delete(pages.keys().next().value);
    },
    async loadEpisode(row) {
      const key = columns.key[row];
      if (!pages.has(key)) await Gallery.load(`${folder(row)}/page.js`);
      return pages.get(key);
    },
  };
})();
