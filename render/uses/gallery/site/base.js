// Shared helpers. Elements are created with text nodes and attributes only, so text from a spec is never parsed as HTML.
"use strict";

const Gallery = {};

(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
  }

  // make("p", {class: "note"}, "text", child, ...): strings become text nodes.
  Gallery.make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  Gallery.makeSvg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  Gallery.number = (value) => Number(value).toLocaleString("en");
  Gallery.percent = (share) => {
    const value = 100 * share;
    return `${value > 0 && value < 1 ? value.toFixed(1) : Math.round(value)}%`;
  };
  Gallery.seconds = (value) => (value < 10 ? `${Number(value).toFixed(2)} s` : `${Number(value).toFixed(0)} s`);
  Gallery.plural = (count, word) => `${Gallery.number(count)} ${word}${count === 1 ? "" : "s"}`;
  Gallery.text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  // Text inside other text: characters that change the writing direction are shown as their code.
  Gallery.inline = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);

  // Loads a script file with data; resolves when it has run.
  Gallery.load = (path) =>
    new Promise((resolve, reject) => {
      const script = Gallery.make("script", { src: path });
      script.onload = () => (script.remove(), resolve());
      script.onerror = () => (script.remove(), reject(new Error(`${path} can't be loaded`)));
      document.head.append(script);
    });

  // What to do about a file of the gallery that can't be loaded.
  Gallery.REPAIR = "If the gallery was updated, reload this page. Otherwise its folder may be incomplete: run render-gallery again to repair it.";

  Gallery.remember = (name, value) => {
    try {
      localStorage.setItem(`diorama.${name}`, value);
    } catch {
      // Some browsers store nothing for local files; the choice then lasts as long as the page.
    }
  };
  Gallery.recall = (name) => {
    try {
      return localStorage.getItem(`diorama.${name}`);
    } catch {
      return null;
    }
  };

  Gallery.copy = async (text, button) => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = Gallery.make("textarea", { class: "offscreen" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const label = button.textContent;
    button.textContent = done ? "Copied" : "Select the text and copy it";
    setTimeout(() => (button.textContent = label), 1600);
  };
})();
