// The page of an episode: images, task, annotations, provenance.
"use strict";

Gallery.episode = (() => {
  const { make, data, about } = Gallery;
  const MAX_COLUMNS = 4;
  // With more objects, the relations of only one object at a time are shown, above the list.
  const MAX_RELATIONS = 8;
  const root = () => document.getElementById("episode");
  let pictures = [];
  let now = null;
  let buttons = {};
  let latestRequest = 0;
  let columns = Number(Gallery.recall("columns")) || 0;

  function neighbors(row, state) {
    let { rows } = Gallery.search.result(state);
    let at = rows.indexOf(row);
    if (at < 0) {
      rows = null;
      at = row;
    }
    const count = rows ? rows.length : data.count;
    const of = (place) => (place < 0 || place >= count ? null : rows ? rows[place] : place);
    return { at, count, before: of(at - 1), after: of(at + 1) };
  }

  function heading(row, state) {
    const id = data.column("id")[row];
    const { at, count, before, after } = neighbors(row, state);
    const link = (to, label, rel, sign) =>
      to === null
        ? make("span", { class: "off", "aria-hidden": "true" }, label)
        : make("a", { href: Gallery.addressOf(data.column("id")[to], state), rel, "aria-keyshortcuts": sign }, label);
    const chips = ["benchmark", "task", "split", "stage", "profile"].map((name) => [name, data.word(name, row)]);
    now = { row, state, before, after };
    return [
      make(
        "nav",
        { class: "path", "aria-label": "Episodes" },
        make("a", { href: `#?${Gallery.search.query(state)}`, "aria-keyshortcuts": "Escape" }, "All episodes"),
        make("span", {}, `${Gallery.number(at + 1)} of ${Gallery.number(count)}`),
        link(before, "← Previous", "prev", "ArrowLeft"),
        link(after, "Next →", "next", "ArrowRight"),
      ),
      make("h1", { id: "episode-title", tabindex: "-1" }, id),
      make(
        "ul",
        { class: "chips", "aria-label": "About this episode" },
        chips.filter(([, word]) => word !== null).map(([name, word]) => make("li", {}, make("small", {}, name), ` ${word}`)),
      ),
    ];
  }

  function toolbar() {
    buttons = {};
    const toggles = Object.entries(Gallery.picture.LAYERS).map(([layer, { label, key, hint }]) => {
      buttons[layer] = make(
        "button",
        { type: "button", class: "toggle", "aria-pressed": String(Gallery.picture.on[layer]), "aria-keyshortcuts": key, title: hint, onclick: () => toggle(layer) },
        label,
        " ",
        make("kbd", { "aria-hidden": "true" }, key),
      );
      return buttons[layer];
    });
    const size = make(
      "div",
      { class: "size" },
      make("button", { type: "button", "aria-label": "Smaller images", "aria-keyshortcuts": "-", onclick: () => resize(1) }, "−"),
      make("button", { type: "button", "aria-label": "Larger images", "aria-keyshortcuts": "+", onclick: () => resize(-1) }, "+"),
    );
    return make("div", { class: "toolbar", role: "group", "aria-label": "Annotations to show" }, toggles, size);
  }

  function objectLine(picture, item, index) {
    const { image } = picture;
    const swatch = make("span", { class: "dot", "aria-hidden": "true" });
    swatch.style.background = image.tints[item.name];
    const button = make("button", { type: "button", class: "object", "aria-pressed": "false" }, swatch, item.name);
    button.addEventListener("click", () => picture.pin(index));
    button.addEventListener("focus", () => picture.light(index));
    button.addEventListener("blur", () => picture.light(null));
    const few = image.annotation.objects.length <= MAX_RELATIONS;
    const relations = few ? Gallery.picture.relationText(image.annotation, item.name) : "";
    if (!few) picture.info.setAttribute("aria-live", "polite");
    const line = make(
      "li",
      {},
      button,
      make(
        "div",
        {},
        make("span", {}, image.things[item.name]),
        Object.hasOwn(image.expressions || {}, item.name) ? make("q", { class: "figure" }, image.expressions[item.name]) : null,
        make("span", { class: "figure" }, item.bbox ? `${Gallery.percent(item.visible_fraction)} visible` : "not visible"),
        item.bbox ? make("span", { class: "figure", title: "x, y, width, height in pixels" }, `box ${item.bbox.join(", ")}`) : null,
        relations ? make("p", { class: "relations" }, relations) : null,
      ),
    );
    line.addEventListener("pointerenter", () => picture.light(index));
    line.addEventListener("pointerleave", () => picture.light(null));
    return { line, button };
  }

  function objectList(picture, open) {
    const { objects, pointer } = picture.image.annotation;
    if (!objects.length) return null;
    const lines = objects.map((item, index) => objectLine(picture, item, index));
    picture.onlight = (lit) =>
      lines.forEach(({ line, button }, index) => {
        line.classList.toggle("lit", index === lit);
        button.setAttribute("aria-pressed", String(index === picture.pinned));
      });
    const count = Gallery.plural(objects.length - (pointer ? 1 : 0), "object");
    return make(
      "details",
      { class: "objects", open },
      make("summary", {}, pointer ? `${count}, and a pointer at ${Gallery.inline(pointer.target)}` : count),
      make("ul", { class: "things", "aria-label": `Objects of ${picture.image.name}` }, lines.map(({ line }) => line)),
    );
  }

  function questionList(image) {
    // Pages of older galleries have none.
    if (!image.questions?.length) return null;
    const word = (answer) => (answer === true ? "yes" : answer === false ? "no" : String(answer));
    const lines = image.questions.map(({ question, answer }) => make("li", {}, question, " ", make("strong", {}, word(answer))));
    return make("details", {}, make("summary", {}, Gallery.plural(lines.length, "question")), make("ul", {}, lines));
  }

  function figure(row, image, alone) {
    const prefix = image.utterance ? `${image.name}, “${image.utterance}”: ` : `${image.name}: `;
    const picture = new Gallery.picture.Picture(image, data.file(row, image.file), prefix + image.caption, !pictures.length);
    pictures.push(picture);
    const extra = image.passes.length ? ` · passes: ${image.passes.join(", ")}` : "";
    return make(
      "figure",
      { class: "picture" },
      picture.stage,
      make(
        "figcaption",
        {},
        make("p", { class: "said" }, make("span", { class: "which" }, image.name), image.utterance ? make("q", {}, image.utterance) : null),
        make("p", { class: "caption" }, Gallery.inline(image.caption), make("small", {}, ` ${image.width} × ${image.height}${extra}`)),
        picture.info,
        objectList(picture, alone),
        questionList(image),
        image.truth ? Gallery.tree("Data of this frame", image.truth) : null,
      ),
    );
  }

  function arrange(page) {
    const count = page.images.length;
    const own = count === 1 ? 1 : count <= 4 ? 2 : 3;
    const shown = columns ? Math.min(columns, Math.max(count, 1)) : own;
    root().querySelector(".pictures")?.style.setProperty("--columns", shown);
    return shown;
  }

  function fillPage(row, page, state) {
    pictures = [];
    now = { ...now, page };
    const alone = page.images.length === 1;
    root().replaceChildren(
      ...heading(row, state),
      ...[about.problems(page.problems), Gallery.pair(page, state), Gallery.looks(page, state), toolbar(), Gallery.task(page.task)].filter(Boolean),
      make("div", { class: alone ? "pictures alone" : "pictures" }, page.images.map((image) => figure(row, image, alone))),
      make("div", { class: "below" }, ...[about.again(page), about.provenance(page), about.timings(page.provenance.seconds)].filter(Boolean)),
      make(
        "section",
        { class: "raw", "aria-label": "As JSON" },
        Gallery.tree("Spec", page.spec),
        Gallery.tree("Scene", page.scene),
        Gallery.tree("Annotations", page.images.map((image) => ({ name: image.name, ...image.annotation }))),
        Gallery.tree("Provenance", page.provenance),
      ),
    );
    arrange(page);
    // Labels can be placed only after layout.
    for (const picture of pictures) picture.spread();
  }

  function fillMissing(row, state, text, lines) {
    pictures = [];
    const parts = [about.problems(lines), make("p", { class: "notice" }, text), lines.length ? about.repair() : null];
    root().replaceChildren(...heading(row, state), ...parts.filter(Boolean));
  }

  async function preload(row) {
    if (row === null || !data.column("key")[row]) return;
    const page = await data.loadEpisode(row).catch(() => null);
    for (const image of page?.images.slice(0, 9) || []) new Image().src = data.file(row, image.file);
  }

  async function show(id, state, focus) {
    const request = (latestRequest += 1);
    const row = data.row(id);
    if (row === undefined) {
      const back = make("a", { href: "#?" }, "All episodes");
      now = null;
      pictures = [];
      root().replaceChildren(make("h1", { id: "episode-title", tabindex: "-1" }, id), make("p", { class: "notice" }, "This gallery has no such episode. ", back));
    } else if (!data.column("key")[row]) {
      fillMissing(row, state, "This episode can’t be read.", data.head.damaged[id] || []);
    } else {
      const page = await data.loadEpisode(row).catch(() => null);
      if (request !== latestRequest) return;
      if (page) fillPage(row, page, state);
      else fillMissing(row, state, `The files of this episode are missing. ${Gallery.REPAIR}`, []);
      setTimeout(() => request === latestRequest && now && preload(now.after), 60);
    }
    // Together with the page: until then, keys act on the episode before.
    document.title = `${id} – ${data.head.title}`;
    root().setAttribute("aria-labelledby", "episode-title");
    const place = data.head.episodes ? Gallery.plural(data.count, "episode") : "";
    document.getElementById("status").textContent = place;
    if (focus) document.getElementById("episode-title").focus({ preventScroll: true });
  }

  function toggle(layer) {
    Gallery.picture.on[layer] = !Gallery.picture.on[layer];
    buttons[layer]?.setAttribute("aria-pressed", String(Gallery.picture.on[layer]));
    for (const picture of pictures) picture.update();
  }

  function resize(by) {
    if (!now?.page) return;
    const most = Math.min(MAX_COLUMNS, now.page.images.length);
    columns = Math.min(most, Math.max(1, arrange(now.page) + by));
    Gallery.remember("columns", columns);
    arrange(now.page);
    for (const picture of pictures) picture.spread();
  }

  return {
    show,
    toggle,
    resize,
    // Ignores a page that is still loading.
    leave: () => (latestRequest += 1),
    get row() {
      return now?.row ?? null;
    },
    ask: () => document.getElementById("ask")?.click(),
    turn(by) {
      const to = by < 0 ? now?.before : now?.after;
      if (to !== null && to !== undefined) location.hash = Gallery.addressOf(data.column("id")[to], now.state);
    },
    objects() {
      const all = [...root().querySelectorAll("details.objects")];
      const open = !all.every((details) => details.open);
      for (const details of all) details.open = open;
    },
  };
})();
