// Routing: `#?...` is the list with its filters and order, `#/EPISODE?...` an episode in that list.
"use strict";

(() => {
  const part = (id) => document.getElementById(id);
  const THEMES = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  let scrollPosition = 0;
  let lastRow = null;

  Gallery.addressOf = (id, state) => {
    const query = Gallery.search.query(state);
    return `#/${id.split("/").map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
  };

  function parsed() {
    const hash = location.hash.slice(1);
    const cut = hash.indexOf("?");
    const [path, query] = cut < 0 ? [hash, ""] : [hash.slice(0, cut), hash.slice(cut + 1)];
    let id = null;
    try {
      if (path.startsWith("/") && path.length > 1) id = decodeURIComponent(path.slice(1));
    } catch {
      id = path.slice(1);
    }
    return { id, state: Gallery.search.parse(query), hash };
  }

  // Replaces the list by an error message.
  Gallery.fail = (text) => {
    for (const name of ["list", "episode"]) part(name).hidden = true;
    part("loading").hidden = false;
    part("loading").textContent = `${text} ${Gallery.REPAIR}`;
    part("status").textContent = "";
  };

  // first: on loading the page, which must not move the focus.
  Gallery.route = async (first = false) => {
    const { id, state, hash } = parsed();
    if (state.q && !Gallery.data.searched) {
      part("status").textContent = "Loading the search index …";
      try {
        await Gallery.data.loadTexts();
      } catch {
        return Gallery.fail("The texts to search in can’t be loaded.");
      }
      // The user may have left in the meantime.
      if (location.hash.slice(1) !== hash) return;
    }
    part("loading").hidden = true;
    const fromList = !part("list").hidden;
    if (fromList && id !== null) scrollPosition = window.scrollY;
    part("list").hidden = id !== null;
    part("episode").hidden = id === null;
    if (id !== null) {
      await Gallery.episode.show(id, state, !first);
      if (part("episode").hidden) return;
      window.scrollTo(0, 0);
      lastRow = Gallery.episode.row;
      return;
    }
    Gallery.episode.leave();
    const typing = document.activeElement?.closest?.(".filters");
    Gallery.list.show(state, !first && !typing && lastRow === null);
    if (lastRow !== null) {
      window.scrollTo(0, scrollPosition);
      Gallery.list.focusRow(lastRow);
      lastRow = null;
    } else if (!typing && !first) window.scrollTo(0, 0);
  };

  Gallery.back = () => {
    const { state } = parsed();
    location.hash = `#?${Gallery.search.query(state)}`;
  };

  function theme(name) {
    const chosen = Object.hasOwn(THEMES, name) ? name : "auto";
    document.documentElement.dataset.theme = chosen;
    part("theme").textContent = THEMES[chosen];
    part("theme").onclick = () => {
      const names = Object.keys(THEMES);
      const next = names[(names.indexOf(chosen) + 1) % names.length];
      Gallery.remember("theme", next);
      theme(next);
    };
  }

  window.addEventListener("load", Gallery.data.loaded);

  Gallery.start = () => {
    theme(Gallery.recall("theme"));
    Gallery.keys.start();
    window.addEventListener("hashchange", () => Gallery.route());
    Gallery.route(true);
  };
})();
