// Keyboard shortcuts. Single-key shortcuts can be turned off, for users of speech input.
"use strict";

Gallery.keys = (() => {
  const { make } = Gallery;
  const onEpisode = () => !document.getElementById("episode").hidden;
  const enabled = () => Gallery.recall("keys") !== "off";
  const dialog = () => document.getElementById("help");

  const EPISODE = {
    ArrowLeft: ["previous episode", () => Gallery.episode.turn(-1)],
    ArrowRight: ["next episode", () => Gallery.episode.turn(1)],
    b: ["boxes", () => Gallery.episode.toggle("boxes")],
    m: ["masks", () => Gallery.episode.toggle("masks")],
    a: ["amodal boxes", () => Gallery.episode.toggle("amodal")],
    n: ["names", () => Gallery.episode.toggle("names")],
    p: ["pointer", () => Gallery.episode.toggle("pointer")],
    o: ["lists of objects", () => Gallery.episode.objects()],
    w: ["the answer", () => Gallery.episode.ask()],
    "+": ["larger images", () => Gallery.episode.resize(-1)],
    "-": ["smaller images", () => Gallery.episode.resize(1)],
    Escape: ["back to the list", () => Gallery.back()],
  };
  const LIST = {
    ArrowLeft: ["previous card", () => Gallery.list.move("left")],
    ArrowRight: ["next card", () => Gallery.list.move("right")],
    ArrowUp: ["card above", () => Gallery.list.move("up"), true],
    ArrowDown: ["card below", () => Gallery.list.move("down"), true],
    Enter: ["open the card", null],
    "/": ["search", () => Gallery.list.focusSearch()],
    "[": ["previous page", () => Gallery.list.turn(-1)],
    "]": ["next page", () => Gallery.list.turn(1)],
  };
  const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Enter: "Enter" };

  function table(title, keys) {
    const rows = Object.entries(keys).map(([key, [text]]) => [make("dt", {}, make("kbd", {}, NAMES[key] || key)), make("dd", {}, text)]);
    return make("section", {}, make("h3", {}, title), make("dl", { class: "keys" }, rows));
  }

  function build() {
    const input = make("input", { type: "checkbox" });
    input.checked = enabled();
    input.addEventListener("change", () => Gallery.remember("keys", input.checked ? "on" : "off"));
    const close = make("button", { type: "button", onclick: () => dialog().close() }, "Close");
    dialog().append(
      make("h2", { id: "help-title" }, "Keys"),
      make("div", { class: "two" }, table("Episode", EPISODE), table("List", LIST)),
      make("label", { class: "switch" }, input, "Use single-key shortcuts"),
      close,
    );
  }

  function help() {
    if (!dialog().children.length) build();
    if (dialog().open) dialog().close();
    else dialog().showModal();
  }

  function typed(event) {
    const { target } = event;
    return target.closest?.("input:not([type=checkbox]), select, textarea, dialog[open]") || target.isContentEditable;
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && event.target.id === "q") return event.target.blur();
    if (typed(event)) return;
    const { key } = event;
    const isArrow = key.startsWith("Arrow");
    if (!isArrow && key !== "Escape" && !enabled()) return;
    if (isArrow && event.target.closest?.("[data-own-arrows]")) return;
    if (key === "?") {
      event.preventDefault();
      return help();
    }
    if (!onEpisode() && document.getElementById("list").hidden) return;
    const keys = onEpisode() ? EPISODE : LIST;
    const [, action, onCard] = (Object.hasOwn(keys, key) && keys[key]) || [];
    // Up and down scroll the page unless a card has the focus.
    if (!action || (onCard && !event.target.closest?.("a.card"))) return;
    event.preventDefault();
    action();
  }

  return {
    start() {
      document.addEventListener("keydown", pressed);
      document.getElementById("help-open").addEventListener("click", help);
    },
  };
})();
