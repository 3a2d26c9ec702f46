// One image of an episode with its annotations. The layers are switched for all images together.
"use strict";

Gallery.picture = (() => {
  const { make, makeSvg } = Gallery;
  const PHRASES = { left: "left of it", right: "right of it", front: "in front of it", behind: "behind it", above: "above it", below: "below it" };
  const MAX_SPREAD = 40;
  // Layer -> label, key and tooltip of its button.
  const LAYERS = {
    boxes: { label: "Boxes", key: "b", hint: "around the visible part of each object" },
    masks: { label: "Masks", key: "m", hint: "the visible pixels of each object" },
    amodal: { label: "Amodal boxes", key: "a", hint: "around the complete object, including hidden parts; dashed" },
    names: { label: "Names", key: "n", hint: "and the visible fraction of each object" },
    pointer: { label: "Pointer", key: "p", hint: "from the fingertip to the target" },
  };
  const on = { boxes: false, masks: false, amodal: false, names: false, pointer: false };

  function relationsOf(annotation, name) {
    return Object.entries(annotation.relations || {})
      .map(([relation, table]) => [relation, Object.hasOwn(table, name) ? table[name] : []])
      .filter(([, others]) => others.length);
  }

  function relationText(annotation, name) {
    const parts = relationsOf(annotation, name).map(([relation, others]) => `${PHRASES[relation] || relation}: ${others.join(", ")}`);
    return Gallery.inline(parts.join("; "));
  }

  function sentence(image, item) {
    const parts = [`${item.name}: ${image.things[item.name]}`];
    const { pointer } = image.annotation;
    if (pointer && pointer.name === item.name) parts.push(`points at ${pointer.target}`);
    parts.push(item.bbox ? `${Gallery.percent(item.visible_fraction)} visible, ${Gallery.plural(item.visible_pixels, "pixel")}` : "not visible");
    if (item.truncated) parts.push("cut off by the image border");
    return Gallery.inline(parts.join(", "));
  }

  function rectangle([x, y, width, height], className, tint) {
    const place = { x, y, width, height, "vector-effect": "non-scaling-stroke" };
    // A dark line below keeps a bright one visible on a bright image.
    return [makeSvg("rect", { ...place, class: `${className} casing` }), makeSvg("rect", { ...place, class: className, stroke: tint })];
  }

  function group(image, item) {
    const tint = image.tints[item.name];
    const made = makeSvg("g", {});
    if (item.amodal_bbox) made.append(...rectangle(item.amodal_bbox, "amodal", tint));
    if (item.bbox) made.append(...rectangle(item.bbox, "box", tint));
    return made;
  }

  function pointerMarks(image) {
    const { pointer, objects } = image.annotation;
    if (!pointer) return [];
    const [x, y] = pointer.fingertip_pixel;
    const target = objects.find((item) => item.name === pointer.target);
    const marks = [];
    if (target) {
      const end = { x1: x, y1: y, x2: target.pixel_center[0], y2: target.pixel_center[1], "vector-effect": "non-scaling-stroke" };
      marks.push(makeSvg("line", { ...end, class: "casing" }), makeSvg("line", end));
    }
    const radius = Math.max(image.width, image.height) / 90;
    return [...marks, makeSvg("circle", { cx: x, cy: y, r: radius, "vector-effect": "non-scaling-stroke" })];
  }

  function tag(image, item) {
    const box = item.bbox || item.amodal_bbox;
    const made = make("span", { class: "tag" });
    if (!box) return made;
    const [x, y, width] = box;
    made.style.borderColor = image.tints[item.name];
    if (x + width / 2 > image.width * 0.7) made.style.right = `${100 - (100 * (x + width)) / image.width}%`;
    else made.style.left = `${(100 * Math.max(0, x)) / image.width}%`;
    // Above the box, or inside it if there is no space above.
    if (y > image.height * 0.09) made.style.bottom = `${100 - (100 * y) / image.height}%`;
    else made.style.top = `${(100 * Math.max(0, y)) / image.height}%`;
    return made;
  }

  class Picture {
    constructor(image, source, alt, hint) {
      this.image = image;
      this.objects = image.annotation.objects;
      this.colors = this.objects.map((item) => Gallery.masks.rgb(image.tints[item.name]));
      this.lit = null;
      this.pinned = null;
      this.hint = hint;
      this.img = make("img", { src: source, alt, width: image.width, height: image.height, decoding: "async" });
      this.canvas = make("canvas", { width: image.width, height: image.height, class: "masks", "aria-hidden": "true" });
      this.groups = this.objects.map((item) => group(image, item));
      const view = { viewBox: `0 0 ${image.width} ${image.height}`, preserveAspectRatio: "none", class: "lines", "aria-hidden": "true" };
      this.tags = this.objects.map((item) => tag(image, item));
      this.marks = makeSvg("g", { class: "pointer" }, pointerMarks(image));
      this.layer = make("div", { class: "tags", "aria-hidden": "true" }, this.tags);
      this.stage = make("div", { class: "stage" }, this.img, this.canvas, makeSvg("svg", view, this.groups, this.marks), this.layer);
      this.stage.style.aspectRatio = `${image.width} / ${image.height}`;
      // Keeps a portrait image inside the window.
      this.stage.style.setProperty("--aspect", image.width / image.height);
      this.info = make("p", { class: "info" });
      this.stage.addEventListener("pointermove", (event) => this.light(this.at(event)));
      this.stage.addEventListener("pointerleave", () => this.light(null));
      this.stage.addEventListener("click", (event) => this.pin(this.at(event)));
      this.update();
    }

    get ids() {
      this.map ||= Gallery.masks.idMap(this.image.width, this.image.height, this.objects);
      return this.map;
    }

    // The index of the object under a mouse event, or null.
    at(event) {
      const area = this.img.getBoundingClientRect();
      const x = Math.floor(((event.clientX - area.left) / area.width) * this.image.width);
      const y = Math.floor(((event.clientY - area.top) / area.height) * this.image.height);
      if (x < 0 || y < 0 || x >= this.image.width || y >= this.image.height) return null;
      return this.ids[y * this.image.width + x] - 1 >= 0 ? this.ids[y * this.image.width + x] - 1 : null;
    }

    pin(index) {
      this.pinned = this.pinned === index ? null : index;
      this.light(index);
      // The object that is lit may be the same as before.
      this.onlight?.(this.lit);
    }

    light(index) {
      const now = index ?? this.pinned;
      if (now === this.lit) return;
      this.lit = now;
      this.update();
      this.onlight?.(now);
    }

    update() {
      const lit = this.lit === null ? null : this.objects[this.lit];
      const about = new Map();
      if (lit) {
        for (const [relation, others] of relationsOf(this.image.annotation, lit.name)) {
          for (const other of others) about.set(other, [...(about.get(other) || []), relation]);
        }
      }
      for (const [layer, shown] of Object.entries(on)) this.stage.classList.toggle(`show-${layer}`, shown);
      this.objects.forEach((item, index) => {
        this.groups[index].classList.toggle("lit", index === this.lit);
        const words = about.get(item.name);
        const share = item.visible_fraction < 0.995 ? ` ${Gallery.percent(item.visible_fraction)}` : "";
        this.tags[index].textContent = Gallery.inline(words ? `${item.name} · ${words.join(", ")}` : `${item.name}${on.names ? share : ""}`);
        const shown = (on.names || index === this.lit || words) && (item.bbox || item.amodal_bbox);
        this.tags[index].classList.toggle("shown", Boolean(shown));
        this.tags[index].classList.toggle("lit", index === this.lit);
      });
      this.marks.classList.toggle("lit", Boolean(lit && this.image.annotation.pointer && [this.image.annotation.pointer.name, this.image.annotation.pointer.target].includes(lit.name)));
      this.spread();
      this.paint();
      this.tell(lit);
    }

    // Moves overlapping labels apart, unless there are too many to be readable.
    spread() {
      const shown = this.tags.filter((tag) => tag.classList.contains("shown"));
      for (const label of shown) label.style.transform = "";
      if (shown.length < 2 || shown.length > MAX_SPREAD) return;
      const area = this.stage.getBoundingClientRect();
      const places = shown.map((label) => label.getBoundingClientRect());
      const taken = [];
      const order = shown.map((_, index) => index).sort((a, b) => shown[b].classList.contains("lit") - shown[a].classList.contains("lit"));
      for (const index of order) {
        const { left, right, top, bottom } = places[index];
        const step = bottom - top + 1;
        const free = (by) =>
          top + by >= area.top &&
          bottom + by <= area.bottom &&
          !taken.some((other) => left < other.right && right > other.left && top + by < other.bottom && bottom + by > other.top);
        const by = [0, -step, step, -2 * step, 2 * step, -3 * step, 3 * step].find(free) ?? 0;
        if (by) shown[index].style.transform = `translateY(${by}px)`;
        taken.push({ left, right, top: top + by, bottom: bottom + by });
      }
    }

    tell(lit) {
      if (!lit) {
        this.info.textContent = this.hint && this.objects.length ? "Point at an object to see its relations to the others." : "";
        this.info.classList.add("idle");
        return;
      }
      const relations = relationText(this.image.annotation, lit.name);
      this.info.textContent = `${sentence(this.image, lit)}${relations ? `. ${relations}` : ""}`;
      this.info.classList.remove("idle");
    }

    paint() {
      const shown = this.objects.map((_, index) => on.masks || index === this.lit);
      const wanted = shown.some(Boolean);
      if (!wanted && !this.painted) return;
      this.painted = wanted;
      if (wanted) Gallery.masks.draw(this.canvas, this.ids, this.colors, shown);
      else this.canvas.getContext("2d").clearRect(0, 0, this.image.width, this.image.height);
    }
  }

  return { LAYERS, on, Picture, relationText, sentence };
})();
