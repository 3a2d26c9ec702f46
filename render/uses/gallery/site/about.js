// The sections around an episode's images: failed checks, the command to render it again, provenance, timings.
"use strict";

Gallery.about = (() => {
  const { make, data } = Gallery;

  function quoted(word) {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  }

  function command({ id, job }) {
    const { store, at } = data.head;
    if (at) return `render-store get ${quoted(store)} ${quoted(id)} --at ${quoted(at)} --out look`;
    const other = job.renderer === "cycles" ? "" : ` --renderer ${quoted(job.renderer)}`;
    return `render-episode ${quoted(store)} ${quoted(id)}${other} --out look`;
  }

  function facts(pairs) {
    const list = make("dl", { class: "facts" });
    for (const [name, value] of pairs) list.append(make("dt", {}, name), make("dd", {}, value));
    return list;
  }

  function timings(seconds) {
    const steps = Object.entries(seconds).filter(([, value]) => Number.isFinite(value));
    if (!steps.length) return null;
    const most = Math.max(...steps.map(([, value]) => value), 1e-9);
    const rows = steps.map(([name, value]) => {
      const bar = make("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * value) / most}%`;
      return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "figure" }, Gallery.seconds(value)), make("td", { class: "bars", "aria-hidden": "true" }, bar));
    });
    const sum = steps.reduce((all, [, value]) => all + value, 0);
    return make(
      "section",
      { "aria-labelledby": "time-title" },
      make("h2", { id: "time-title" }, "Time"),
      make("table", { class: "times" }, make("caption", { class: "offscreen" }, "Seconds per step"), make("tbody", {}, rows)),
      make("p", { class: "hint" }, `${Gallery.seconds(sum)} in total`),
    );
  }

  function provenance(page) {
    const { provenance: from, job, scene } = page;
    const { settings } = scene;
    const versions = Object.entries(from.versions).map(([name, version]) => `${name} ${version}`).join(", ");
    return make(
      "section",
      { "aria-labelledby": "from-title" },
      make("h2", { id: "from-title" }, "Provenance"),
      facts([
        ["Rendered", `${from.created.slice(0, 19).replace("T", " ")}, attempt ${from.attempt}`],
        ["Device", [from.device, from.cpu].filter(Boolean).join(", ")],
        ["Versions", versions],
        ["Profile", `${settings.profile}: ${samplesOf(settings)}, ${settings.width} × ${settings.height}`],
        ["Renderer", `${job.renderer}, Diorama ${job.version}`],
        ["Seed", String(scene.seed)],
        ["Job", make("code", {}, job.hash)],
      ]),
    );
  }

  function samplesOf(settings) {
    const more = settings.object_samples ? ` and ${settings.object_samples} more around objects` : "";
    const few = settings.opaque_samples ? ` (fewer without glass)` : "";
    return `${Gallery.plural(settings.samples, "sample")} per pixel${more}${few}`;
  }

  function commandBox(id, title, text) {
    const button = make("button", { type: "button" }, "Copy");
    button.addEventListener("click", () => Gallery.copy(text, button));
    return make(
      "section",
      { "aria-labelledby": id },
      make("h2", { id }, title),
      make("div", { class: "command" }, make("code", { tabindex: "0", "data-own-arrows": "" }, text), button),
    );
  }

  const again = (page) => commandBox("again-title", data.head.at ? "Export this version" : "Render it again", command(page));

  function repair() {
    const text = `render-store verify ${quoted(data.head.store)} --specs-out again.jsonl --repair`;
    return commandBox("mend-title", "Delete damaged episodes from the store and write specs to render them again", text);
  }

  function problems(lines) {
    if (!lines.length) return null;
    return make("section", { class: "notice bad", "aria-labelledby": "bad-title" }, make("h2", { id: "bad-title" }, "Failed checks"), make("ul", {}, lines.map((line) => make("li", {}, Gallery.inline(line)))));
  }

  return { again, repair, provenance, timings, problems };
})();
