// The task of an episode: instruction, question and options; everything else after a click on the button.
"use strict";

Gallery.task = (() => {
  const { make } = Gallery;
  // The keys that do not reveal the answer.
  const OPEN = ["benchmark", "name", "instruction", "question", "options"];

  return (task) => {
    if (!task) return null;
    const rest = Object.fromEntries(Object.entries(task).filter(([name]) => !OPEN.includes(name)));
    const options = Array.isArray(task.options) ? task.options : [];
    const items = options.map((option) => [option, make("li", {}, Gallery.text(option))]);
    const what = "answer" in task ? "the answer" : "the rest of the task";
    const answer = make("div", { class: "answer", id: "answer", hidden: true });
    const ask = make("button", { type: "button", id: "ask", "aria-expanded": "false", "aria-controls": "answer", "aria-keyshortcuts": "w" }, `Show ${what} `, make("kbd", { "aria-hidden": "true" }, "w"));
    ask.addEventListener("click", () => {
      const hide = !answer.hidden;
      answer.hidden = hide;
      ask.setAttribute("aria-expanded", String(!hide));
      ask.firstChild.textContent = `${hide ? "Show" : "Hide"} ${what} `;
      for (const [option, item] of items) item.classList.toggle("right", !hide && "answer" in task && Gallery.text(option) === Gallery.text(task.answer));
      if (hide || answer.children.length) return;
      if ("answer" in task) answer.append(make("p", {}, "Answer: ", make("strong", {}, Gallery.text(task.answer))));
      answer.append(Gallery.tree("The rest of the task", rest, true));
    });
    const hidden = Object.keys(rest).length > 0;
    return make(
      "section",
      { class: "task", "aria-labelledby": "task-title" },
      make("h2", { id: "task-title" }, "Task"),
      ["instruction", "question"].filter((name) => task[name]).map((name) => make("p", { class: "instruction" }, Gallery.text(task[name]))),
      items.length ? make("ol", { class: "options", "aria-label": "Options" }, items.map(([, item]) => item)) : null,
      hidden ? [ask, answer] : make("p", { class: "hint" }, "No answer is stored."),
    );
  };
})();
