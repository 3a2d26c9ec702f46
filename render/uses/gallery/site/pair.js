// The members of a contrast beside each other, their difference, and a swipe from one to the other; an episode's looks.
"use strict";

Gallery.pair = (() => {
  const { make, data } = Gallery;
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  function stack(name, files, label, more) {
    const [below, above] = files.map((file) => make("img", { src: file, alt: "" }));
    return { above, figure: make("figure", { class: name }, make("div", { role: "img", "aria-label": label }, below, above), more, make("figcaption", {}, label)) };
  }

  function swipe(files) {
    const range = make("input", { type: "range", min: 0, max: 100, value: 50, "aria-label": "Share of the first image" });
    const { above, figure } = stack("swipe", files, "swipe between the two", range);
    const cut = () => (above.style.clipPath = `inset(0 0 0 ${range.value}%)`);
    range.addEventListener("input", cut);
    cut();
    return figure;
  }

  function member(id, row, file, name, label, current, state) {
    const link = make("a", { href: Gallery.addressOf(id, state), "aria-current": current ? "page" : null }, label);
    return make("figure", {}, make("img", { src: data.file(row, file), alt: name }), make("figcaption", {}, link));
  }

  // null for an episode of which no other look is in this gallery.
  Gallery.looks = (page, state) => {
    const start = page.id.slice(0, -(page.scene.look?.name ?? "plain").length);
    if (!start.endsWith("+") || !page.id.endsWith(`+${page.scene.look?.name ?? "plain"}`)) return null;
    const ids = data.column("id").filter((id) => id.startsWith(start) && /^[^+/]+$/.test(id.slice(start.length)) && data.column("key")[data.row(id)]);
    if (ids.length < 2) return null;
    const lines = page.images.map((image) => {
      const name = (id) => id.slice(start.length);
      return make("div", { class: "members" }, ids.map((id) => member(id, data.row(id), image.file, `In the look ${name(id)}`, name(id), id === page.id, state)));
    });
    return make("section", { class: "pair", "aria-label": "Looks" }, make("h2", {}, "Looks"), lines);
  };

  // null for an episode that is not part of a contrast, or whose other members are not in this gallery.
  return (page, state) => {
    const contrast = page.scene.contrast;
    const ids = contrast ? Array.from({ length: contrast.members }, (_, number) => `${contrast.pair}-${number}`) : [];
    const rows = ids.map((id) => data.row(id));
    if (!contrast || rows.some((row) => row === undefined || !data.column("key")[row])) return null;
    const other = contrast.member ? contrast.member - 1 : 1;
    const both = [Math.min(other, contrast.member), Math.max(other, contrast.member)];
    const lines = page.images
      .filter((image) => image.frame === contrast.frame)
      .map((image) => {
        const files = both.map((number) => data.file(rows[number], image.file));
        const { figure } = stack("difference", files, "difference, 8 times");
        return make("div", { class: "members" }, rows.map((row, number) => member(ids[number], row, image.file, `Member ${number + 1}`, `${number + 1}: ${shown(contrast.values[number])}`, number === contrast.member, state)), figure, swipe(files));
      });
    const answers = contrast.answers ? `; answers ${contrast.answers}` : "";
    const what = `${contrast.change} of ${contrast.objects.join(", ")} in ${contrast.frame}${answers}`;
    return make("section", { class: "pair", "aria-label": "Contrast" }, make("h2", {}, `Contrast: ${Gallery.inline(what)}`), lines);
  };
})();
