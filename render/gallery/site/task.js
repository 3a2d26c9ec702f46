// What an episode's task says: at once what gives nothing away, the rest with the answer, when asked.
"use strict";

Gallery.task = (() => {
  const { make } = Gallery;
  // Gives nothing away; everything else of a task is shown with the answer.
  const OPEN = ["benchmark", "name", "instruction", "question", "options"];

  return (given) => {
    if (!given) return null;
    const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !OPEN.includes(name)));
    const options = Array.isArray(given.options) ? given.options : [];
    const items = options.map((option) => [option, make("li", {}, Gallery.text(option))]);
    const what = "answer" in given ? "the answer" : "what else it says";
    const answer = make("div", { class: "answer", id: "answer", hidden: true });
    const ask = make("button", { type: "button", id: "ask", "aria-expanded": "false", "aria-controls": "answer", "aria-keyshortcuts": "w" }, `Show ${what} `, make("kbd", { "aria-hidden": "true" }, "w"));
    ask.addEventListener("click", () => {
      const hide = !answer.hidden;
      answer.hidden = hide;
      ask.setAttribute("aria-expanded", String(!hide));
      ask.firstChild.textContent = `${hide ? "Show" : "Hide"} ${what} `;
      for (const [option, item] of items) item.classList.toggle("right", !hide && "answer" in given && Gallery.text(option) === Gallery.text(given.answer));
      if (hide || answer.children.length) return;
      if ("answer" in given) answer.append(make("p", {}, "Answer: ", make("strong", {}, Gallery.text(given.answer))));
      answer.append(Gallery.tree("All that the task says", rest, true));
    });
    const hidden = Object.keys(rest).length > 0;
    return make(
      "section",
      { class: "task", "aria-labelledby": "task-title" },
      make("h2", { id: "task-title" }, "Task"),
      ["instruction", "question"].filter((name) => given[name]).map((name) => make("p", { class: "instruction" }, Gallery.text(given[name]))),
      items.length ? make("ol", { class: "options", "aria-label": "Options" }, items.map(([, item]) => item)) : null,
      hidden ? [ask, answer] : make("p", { class: "hint" }, "No answer is stored with it."),
    );
  };
})();
