// The answer: its words as they come, then checked, with chips that open what they rest on.

import { byId, button, copying, count, el, location_, ms, say, sentenceOf, show, withCode } from "./dom.js";
import { blocksOf, Places } from "./markup.js";

const WRITTEN_BY = { extractive: "quoted, no model", none: "no answer" };

/**
 * @param {(citation: object, exact: object|null, opener: Element) => void} open shows lines
 */
export function answerView(open) {
  const section = byId("answer");
  const words = byId("words");
  let current = null; // the document, once it is whole

  byId("copy").addEventListener("click", (event) => copying(event.target, () => markdownOf(current)));
  byId("link").addEventListener("click", (event) => copying(event.target, () => location.href));

  function begin() {
    current = null;
    section.hidden = false;
    section.classList.remove("refused");
    words.setAttribute("aria-busy", "true");
    show(words, el("p", { class: "waiting" }, "Reading the passages…"));
    for (const id of ["answer-notes", "sources", "badges"]) byId(id).replaceChildren();
    byId("copy").hidden = true;
  }

  function add(piece) {
    let growing = words.querySelector(".growing");
    if (!growing) {
      growing = el("p", { class: "growing" });
      show(words, growing);
    }
    growing.append(piece);
  }

  function finish(document_) {
    current = document_;
    const supports = supportsOf(document_);
    const citations = new Map(document_.citations.map((citation) => [citation.number, citation]));
    show(words, drawn(document_, supports, citations, open));
    words.setAttribute("aria-busy", "false");
    section.classList.toggle("refused", document_.refused);
    show(byId("answer-notes"), notesOf(document_, supports));
    show(byId("sources"), document_.citations.map((citation) => sourceRow(citation, supports, open)));
    show(byId("badges"), badgesOf(document_));
    byId("copy").hidden = false;
    const cited = document_.citations.length;
    say(document_.refused ? "No answer was found." : `Answer ready, ${count(cited, "source")} cited.`);
  }

  function stop(text) {
    words.setAttribute("aria-busy", "false");
    const growing = words.querySelector(".growing");
    if (!growing) show(words);
    if (text) words.append(el("p", { class: "hint" }, text));
  }

  const hasWords = () => words.querySelector(".growing") !== null;
  return { begin, add, finish, stop, hasWords, hide: () => { section.hidden = true; } };
}

/** The checked sentences with their places in the JavaScript string. */
function supportsOf(document_) {
  const places = new Places(document_.answer);
  return document_.sentences.map((sentence) => ({
    ...sentence,
    start: places.of(sentence.answer_start),
    end: places.of(sentence.answer_end),
  }));
}

function drawn(document_, supports, citations, open) {
  const isQuoted = document_.answer_mode === "extractive";
  const draw = (pieces) => piecesDrawn(pieces, supports, citations, open);
  const made = [];
  let list = null;
  for (const block of blocksOf(document_.answer, isQuoted)) {
    if (block.kind === "li") {
      if (!list) made.push(list = el("ul"));
      const deeper = block.depth > 1 ? "deeper" : null;
      list.append(el("li", { class: deeper, "data-marker": block.marker }, draw(block.pieces)));
      continue;
    }
    list = null;
    if (block.kind === "pre") made.push(el("pre", {}, el("code", {}, draw(block.pieces))));
    else if (block.kind === "h") made.push(el("h3", {}, draw(block.pieces)));
    else if (block.kind === "table") made.push(tableDrawn(block.rows, draw));
    else made.push(el("p", {}, draw(block.pieces)));
  }
  return made;
}

function tableDrawn(rows, draw) {
  const [head, ...body] = rows;
  if (!head) return null;
  const row = (cells, name) =>
    el("tr", {}, cells.map((cell) => el(cell.length ? name : "td", {}, draw(cell))));
  const table = body.length
    ? el("table", {}, el("thead", {}, row(head, "th")), el("tbody", {}, body.map((r) => row(r, "td"))))
    : el("table", {}, el("tbody", {}, row(head, "td")));
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, table);
}

/** Pieces as elements; what belongs to an unsupported sentence is marked as such. */
function piecesDrawn(pieces, supports, citations, open) {
  const made = [];
  let group = null; // of the unsupported sentence that is being drawn
  let doubted = null;
  const close = () => group?.append(el("span", { class: "doubt-note" }, "not supported"));
  for (const part of pieces.flatMap((piece) => cut(piece, supports))) {
    const sentence = supports.find((s) => s.start <= part.start && part.start < s.end) || null;
    const doubt = sentence && !sentence.supported ? sentence : null;
    if (doubt !== doubted) {
      close();
      doubted = doubt;
      group = doubt ? el("span", { class: "doubt", title: reasonOf(doubt) }) : null;
      if (group) made.push(group);
    }
    const node = nodeOf(part, sentence, citations, open);
    if (group) group.append(node);
    else made.push(node);
  }
  close();
  return made;
}

function cut(piece, supports) {
  if (piece.kind === "cite") return [piece];
  const bounds = supports.flatMap((s) => [s.start, s.end]);
  const inside = [...new Set(bounds)].filter((b) => piece.start < b && b < piece.end);
  const edges = [piece.start, ...inside.sort((a, b) => a - b), piece.end];
  return edges.slice(1).map((end, number) => {
    const start = edges[number];
    const text = piece.text.slice(start - piece.start, end - piece.start);
    return { ...piece, start, end, text };
  });
}

function nodeOf(part, sentence, citations, open) {
  if (part.kind === "code") return el("code", {}, part.text);
  if (part.kind === "strong") return el("strong", {}, part.text);
  const citation = part.kind === "cite" ? citations.get(part.number) : null;
  return citation ? chip(citation, exactIn(sentence, citation), open) : document.createTextNode(part.text);
}

/** The lines of a citation that say it best, where the sentence knows. */
function exactIn(sentence, citation) {
  const span = sentence?.span;
  return span && span.file_path === citation.file_path && span.number === citation.number ? span : null;
}

function chip(citation, exact, open) {
  const label = `Source ${citation.number}: ${location_(citation)}`;
  return el(
    "button",
    {
      type: "button", class: "chip", "aria-label": label, title: location_(exact || citation),
      "aria-haspopup": "dialog",
      onclick: (event) => open(citation, exact, event.currentTarget),
    },
    String(citation.number),
  );
}

function sourceRow(citation, supports, open) {
  const sentence = supports.find((s) => exactIn(s, citation)) || null;
  const opener = (event) => open(citation, exactIn(sentence, citation), event.currentTarget);
  return el(
    "li",
    { value: citation.number },
    el("span", { class: "number" }, String(citation.number)),
    button(location_(citation), opener, { class: "path", "aria-haspopup": "dialog" }),
  );
}

const reasonOf = (sentence) => sentence.reason || "the passages do not say so";

function notesOf(document_, supports) {
  const notes = [];
  const doubts = supports.filter((sentence) => !sentence.supported);
  if (doubts.length) {
    const text = doubts.length === supports.length
      ? "No sentence of this answer is supported by the passages."
      : `${doubts.length} of ${supports.length} sentences ${doubts.length === 1 ? "is" : "are"} not`
        + " supported by the passages.";
    const reasons = [...new Set(doubts.map(reasonOf))].map((reason) => el("li", {}, reason));
    notes.push(el("div", { class: "notice doubtful" }, el("p", {}, text), el("ul", {}, reasons)));
  }
  const missing = document_.grounds?.missing || [];
  if (missing.length) notes.push(el("p", { class: "hint" }, `Nobody wrote: ${missing.join(", ")}.`));
  if (document_.notice) notes.push(el("p", { class: "hint" }, withCode(sentenceOf(document_.notice))));
  if (document_.refused && document_.retrieved_chunks.length) {
    notes.push(el("p", { class: "hint" }, "The nearest passages are below."));
  }
  return notes;
}

function badgesOf(document_) {
  const { timings } = document_.metrics;
  const isCached = timings.answer_cache === "hit";
  const badges = [el("span", { class: "badge model" }, WRITTEN_BY[document_.answer_mode] || document_.answer_mode)];
  if (isCached) badges.push(el("span", { class: "badge cached" }, "cached"));
  const names = {
    plan_ms: "plan", search_ms: "search", rerank_ms: "rerank", first_token_ms: "first word",
    generate_ms: "answer", total_ms: "total",
  };
  for (const [key, name] of Object.entries(names)) {
    const value = timings[key];
    if (value !== null && value !== undefined) {
      badges.push(el("span", { class: "badge" }, `${name} `, el("b", {}, ms(value))));
    }
  }
  if (timings.answer_tokens) {
    const about = timings.tokens_estimated ? "about " : "";
    const text = `${about}${count(timings.prompt_tokens, "token")} read, ${timings.answer_tokens} written`;
    badges.push(el("span", { class: "badge" }, text));
  }
  return el("div", { class: "badges", role: "group", "aria-label": "How it was made" }, badges);
}

/** The question, the answer and its sources for a note or an issue. */
export function markdownOf(document_) {
  const lines = [`## ${document_.query.replace(/\s+/g, " ").trim()}`, "", document_.answer.trim(), ""];
  for (const citation of document_.citations) {
    lines.push(`- [${citation.number}] \`${location_(citation)}\``);
  }
  const doubts = document_.sentences.filter((sentence) => !sentence.supported);
  if (doubts.length) {
    lines.push("", "Not supported by the sources:");
    for (const doubt of doubts) lines.push(`- ${doubt.sentence.replace(/\s+/g, " ").trim()}`);
  }
  return `${lines.join("\n").trim()}\n`;
}
