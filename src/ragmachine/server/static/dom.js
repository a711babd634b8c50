// Small helpers for the document. All data goes in as text: nothing here parses HTML.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text nodes, null is left out. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "onclick") made.addEventListener("click", value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, onclick, { class: more = "", ...attributes } = {}) =>
  el("button", { type: "button", class: `quiet ${more}`.trim(), onclick, ...attributes }, text);

export const show = (element, ...children) => {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  element.hidden = false;
};

/** Words in `backticks` as code. */
export const withCode = (text) =>
  text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const sentenceOf = (text) => capital(text) + (/[.!?]$/.test(text) ? "" : ".");

/** Said by screen readers, seen by nobody. */
export function say(text) {
  byId("status").textContent = text;
}

/** Milliseconds as people read them. */
export function ms(value) {
  if (value >= 10000) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 100) return `${Math.round(value)} ms`;
  return `${value.toFixed(1)} ms`;
}

export const count = (number, noun) =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** `path:first-last`, or the place of a document whose bytes are not its text. */
export function location_(where) {
  if (where.place) return `${where.file_path} ${where.place}`;
  const { first_line: first, last_line: last } = where;
  return `${where.file_path}:${first === last ? first : `${first}-${last}`}`;
}

/** The page in `p.2`; 0 where there is none. */
export const pageOf = (where) => Number(/^p\.(\d+)/.exec(where.place || "")?.[1] || 0);

export const isPdf = (where) => where.file_path.toLowerCase().endsWith(".pdf");

/** Lines as the index counts them: LF, CR LF and a lone CR each end one. */
export function linesOf(text) {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

/** Text with the words of a question marked where they begin a word. */
export function marked(text, pattern) {
  if (!pattern) return [text];
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(at, match.index), el("mark", {}, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

const COMMON = new Set(
  ("the and for are was with what how does when where which who why that this from have has can" +
    " its not you your will did into out any all use used").split(" "),
);

/** Finds the words of a question in a text; null where it holds none worth marking. */
export function wordPattern(question) {
  const words = question.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) || [];
  const kept = [...new Set(words)].filter((word) => !COMMON.has(word)).slice(0, 40);
  if (!kept.length) return null;
  const stems = kept.map((word) => (word.length > 4 ? word.replace(/(?:es|s|ed|ing)$/, "") : word));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join("|")})[\\p{L}\\p{N}]*`, "giu");
}

/** One numbered line of a file. */
export function lineRow(number, content, kind = "") {
  return el(
    "span",
    { class: `line ${kind}`.trim(), "data-line": number },
    el("span", { class: "text" }, content),
  );
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // pages that did not come over https from elsewhere than this computer
    const field = el("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}

/** Copy, and say so on the button for a while. */
export function copying(target, text) {
  const label = target.dataset.label || target.textContent;
  target.dataset.label = label;
  copyText(text()).then((isCopied) => {
    target.textContent = isCopied ? "Copied" : "Could not copy";
    say(target.textContent);
    setTimeout(() => { target.textContent = label; }, 1600);
  });
}
