// The passages: a list that is there at once, walked with the arrow keys.

import * as api from "./api.js";
import { byId, button, el, lineRow, linesOf, location_, marked, ms, show, wordPattern } from "./dom.js";

const PREVIEW_LINES = 6;
const STAGES = {
  chunk: "words of this passage (BM25)",
  file: "words of the whole file",
  passage: "words that stand close together",
  name: "name of the file",
  role: "what the file is for",
  definition: "defines a name that was asked for",
  narrow: "a place that the question names",
  dense: "nearness in meaning (vectors)",
  rerank: "second reading",
};
const STALE = {
  unmoved: "file changed elsewhere", moved: "file changed, the lines have moved",
  changed: "file changed since it was indexed", gone: "file is gone",
};

/**
 * @param {(hit: object, opener: Element, isQuiet: boolean) => void} open shows a passage
 * @param {(condition: string) => void} narrow adds a condition to the filter, or takes it out
 */
export function passagesView(open, narrow) {
  const list = byId("hits");
  let asked = null;
  let explained = null; // one request for all hits of a question

  function draw(found, request) {
    asked = request;
    explained = null;
    const pattern = wordPattern(request.query);
    byId("passages").hidden = false;
    byId("count").textContent = countOf(found);
    show(list, found.retrieved_chunks.map((hit) => hitDrawn(hit, pattern)));
    const facets = byId("facets");
    const focused = facets.contains(document.activeElement) && document.activeElement.dataset.condition;
    show(facets, facetsOf(found.retrieved_chunks, request.filter));
    if (focused) {
      const same = [...facets.children].find((facet) => facet.dataset.condition === focused);
      (same || byId("filter")).focus();
    }
  }

  function hitDrawn(hit, pattern) {
    const opener = button(location_(hit), (event) => open(hit, event.currentTarget, false), {
      class: "path open-hit", "aria-haspopup": "dialog",
    });
    const label = hit.label.split("; ")[0].replace(/^Section: /, "");
    return el(
      "li",
      { class: "hit", "data-rank": hit.rank, value: hit.rank },
      el("div", { class: "hit-head" }, el("span", { class: "rank" }, String(hit.rank)), opener),
      el(
        "p",
        { class: "about" },
        label ? el("span", { class: "label" }, label) : null,
        el("span", { class: "kind" }, hit.file_type),
        hit.stale ? el("span", { class: "badge doubtful" }, STALE[hit.state] || STALE.changed) : null,
        el("span", { class: "cited-as" }),
      ),
      preview(hit, pattern),
      el("details", { class: "score" }, el("summary", {}, `Score ${hit.score.toFixed(2)}`),
        el("div", { class: "stages" })),
    );
  }

  list.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.matches(".score") && details.open) explain(details);
  }, true);

  async function explain(details) {
    const box = details.querySelector(".stages");
    if (box.childElementCount) return;
    const rank = Number(details.closest(".hit").dataset.rank);
    show(box, el("p", { class: "hint" }, "Asking…"));
    explained ||= api.post("/search", { ...asked, explain: true });
    try {
      const found = await explained;
      const hit = found.retrieved_chunks.find((row) => row.rank === rank);
      show(box, stagesDrawn(hit?.stages || {}), planDrawn(found.plan || {}));
    } catch (problem) {
      explained = null;
      show(box, el("p", { class: "fault" }, problem.message));
    }
  }

  function cite(citations) {
    for (const row of list.querySelectorAll(".cited-as")) row.replaceChildren();
    for (const citation of citations) {
      for (const [hit, row] of hitsWith(citation)) {
        row.classList.add("is-cited");
        const place = row.querySelector(".cited-as");
        place.append(el("span", { class: "badge cited", title: location_(hit) }, `cited as ${citation.number}`));
      }
    }
  }

  let shown = [];
  function* hitsWith(citation) {
    for (const hit of shown) {
      const isNear = hit.first_character_index < citation.last_character_index
        && citation.first_character_index < hit.last_character_index;
      if (hit.file_path === citation.file_path && isNear) {
        yield [hit, list.querySelector(`[data-rank="${hit.rank}"]`)];
      }
    }
  }

  function facetsOf(hits, filter) {
    const facets = new Map();
    const add = (condition) => facets.set(condition, (facets.get(condition) || 0) + 1);
    for (const hit of hits) add(`lang:${hit.file_type}`);
    const folders = hits.map((hit) => hit.file_path.split("/").slice(1, -1).slice(0, 2).join("/"));
    for (const folder of folders) if (folder && /^[\w./+@=-]+$/.test(folder)) add(`path:${folder}/**`);
    const used = filter.split(/\s+/);
    return [...facets]
      .filter(([condition, hitsOf]) => hitsOf < hits.length || used.includes(condition))
      .sort((a, b) => b[1] - a[1])
      .slice(0, 8)
      .map(([condition, hitsOf]) => button(
        `${condition} (${hitsOf})`,
        () => narrow(condition),
        { class: "facet", "data-condition": condition, "aria-pressed": String(used.includes(condition)) },
      ));
  }

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest(".hit");
    if (!step || !row || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    if (next) focus(next, true);
    else if (step < 0) byId("question").focus();
  });

  function focus(row, isWalked) {
    const opener = row.querySelector(".open-hit");
    opener.focus();
    row.scrollIntoView({ block: "nearest" });
    const hit = shown.find((candidate) => candidate.rank === Number(row.dataset.rank));
    if (isWalked && document.body.classList.contains("has-pane")) open(hit, opener, true);
  }

  return {
    draw: (found, request) => {
      shown = found.retrieved_chunks;
      draw(found, request);
    },
    cite,
    markOpened: (rank) => {
      for (const row of list.querySelectorAll(".hit")) {
        row.classList.toggle("is-open", Number(row.dataset.rank) === rank);
      }
    },
    hide: () => { byId("passages").hidden = true; },
    focusFirst: () => {
      const first = list.querySelector(".hit");
      if (first) focus(first, false);
    },
    openRank: (rank) => {
      const hit = shown.find((candidate) => candidate.rank === rank);
      if (hit) open(hit, list.querySelector(`[data-rank="${rank}"] .open-hit`), true);
    },
  };
}

function countOf(found) {
  const hits = found.retrieved_chunks.length;
  const of = found.metrics.total_chunks.toLocaleString("en");
  const cached = found.metrics.cached ? ", cached" : "";
  return `${hits} of ${of} in ${ms(found.metrics.search_time_ms)}, ${found.strategy}${cached}`;
}

/** The lines of a passage that hold most words of the question. */
function preview(hit, pattern) {
  const lines = linesOf(hit.text);
  let first = 0;
  if (lines.length > PREVIEW_LINES && pattern) {
    const weights = lines.map((line) => new Set((line.match(pattern) || []).map((w) => w.toLowerCase())).size);
    let best = -1;
    for (let at = 0; at + PREVIEW_LINES <= lines.length; at += 1) {
      const sum = weights.slice(at, at + PREVIEW_LINES).reduce((a, b) => a + b, 0);
      if (sum > best) [best, first] = [sum, at];
    }
  }
  const shown = lines.slice(first, first + PREVIEW_LINES);
  const rows = shown.map((line, n) => lineRow(hit.first_line + first + n, marked(line, pattern)));
  return el("pre", { class: "code" }, el("code", {}, rows));
}

function stagesDrawn(stages) {
  const rows = Object.entries(stages).filter(([, value]) => value !== 0);
  const most = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
  const body = rows.map(([name, value]) => {
    const bar = el("span", { class: "bar-fill", "aria-hidden": "true" });
    bar.style.width = `${(Math.abs(value) / most) * 100}%`;
    return el("tr", {}, el("th", { scope: "row" }, STAGES[name] || name),
      el("td", { class: "figure" }, value.toFixed(2)), el("td", { class: "bar-cell" }, bar));
  });
  return el("table", { class: "parts" }, el("caption", { class: "unseen" }, "Parts of the score"),
    el("tbody", {}, body));
}

function planDrawn(plan) {
  const words = (entries) => Object.entries(entries || {}).map(
    ([word, weight]) => el("code", {}, typeof weight === "number" && weight !== 1 ? `${word} ×${weight.toFixed(2)}` : word),
  );
  const rows = [
    ["Searched for", words(plan.terms)],
    ["Added", words(plan.added)],
    ["Corrected", Object.entries(plan.corrections || {}).map(([a, b]) => el("code", {}, `${a} → ${b}`))],
    ["Ignored", (plan.ignored || []).map((word) => el("code", {}, String(word)))],
    ["Narrowed to", (plan["narrowed to"] || []).map((place) => el("code", {}, String(place)))],
  ].filter(([, items]) => items.length);
  return el("dl", { class: "plan" }, rows.map(([name, items]) => [el("dt", {}, name), el("dd", {}, items)]));
}

