// The page: one question at a time, from the form or from the address.

import * as api from "./api.js";
import { answerView } from "./answer.js";
import { collectionChoice } from "./collections.js";
import { byId, count, el, say, sentenceOf, show, wordPattern } from "./dom.js";
import { frame } from "./frame.js";
import { historyDialog, remember } from "./history.js";
import { passagesView } from "./passages.js";
import { sourcePane } from "./source.js";
import { hideStart, nothingFound, Notices, startDrawn } from "./states.js";
import { uploadDialog } from "./upload.js";

const question = byId("question");
const filter = byId("filter");
const notices = new Notices();
const choice = collectionChoice(() => {
  notices.clear();
  start().then(() => say(byId("corpus").textContent));
});
let asking = new AbortController();
let asked = null;

const pane = sourcePane((opened) => {
  passages.markOpened(opened?.rank || 0);
  keepOpened(opened?.rank || 0);
});
const answer = answerView((where, exact, opener) =>
  pane.open(where, { exact, opener, ...shownOf(asked) }));
const passages = passagesView(
  (hit, opener, isQuiet) =>
    pane.open(hit, { opener, isQuiet, rank: hit.rank, ...shownOf(asked) }),
  narrow,
);

const shownOf = ({ query, collection }) => ({ collection, pattern: wordPattern(query) });

// ---- asking

const inForm = () => ({
  query: question.value.trim(),
  k: Number(byId("k").value),
  filter: filter.value.trim(),
  only: byId("only").checked,
  collection: choice.value(),
});

function putInForm({ query, k, filter: conditions, only, collection }) {
  choice.put(collection);
  question.value = query;
  filter.value = conditions;
  byId("only").checked = only;
  const select = byId("k");
  if (![...select.options].some((option) => option.value === String(k))) {
    select.append(el("option", {}, String(k)));
  }
  select.value = String(k);
  grow();
}

/** @param {{isNew?: boolean, rank?: number}} options isNew: put it into the address; rank: open it */
async function ask(request, { isNew = true, rank = 0 } = {}) {
  if (!request.query) return void question.focus();
  stop();
  asking = new AbortController();
  asked = request;
  putInForm(request);
  if (isNew) history.pushState(null, "", addressOf(request));
  document.title = `${request.query.slice(0, 60)} · ragmachine`;
  remember(request);
  notices.clear();
  hideStart();
  pane.close();
  answer.hide();
  fault("");
  await working(asking.signal, (signal) => run(request, signal, rank));
}

/** Run one piece of work while the form shows that it runs; tell what goes wrong. */
async function working(signal, work) {
  byId("stop").hidden = false;
  document.body.classList.add("is-asking");
  try {
    await work(signal);
  } catch (problem) {
    if (!signal.aborted) failed(problem);
  } finally {
    if (!asking.signal.aborted && signal === asking.signal) idle();
  }
}

function idle() {
  byId("stop").hidden = true;
  document.body.classList.remove("is-asking");
}

async function run(request, signal, rank) {
  say("Searching…");
  const { query, k, filter: conditions, collection } = request;
  const plain = { query, k, filter: conditions, ...api.named(collection) };
  if (!request.only) answer.begin();
  const found = await api.post("/search", plain, signal);
  drawPassages(found, plain);
  if (rank) passages.openRank(rank);
  if (!request.only) await write(plain, signal);
}

function drawPassages(found, request) {
  passages.draw(found, request);
  const hits = found.retrieved_chunks.length;
  if (!hits) show(byId("hits"), nothingFound(found, request));
  byId("found-notice").textContent = hits && found.notice ? sentenceOf(found.notice) : "";
  byId("found-notice").hidden = !hits || !found.notice;
  say(`${count(hits, "passage")} found.`);
}

async function write(request, signal) {
  answer.begin();
  let isWhole = false;
  try {
    for await (const [name, document_] of api.events("/answer", { ...request, stream: true }, signal)) {
      if (name === "token") answer.add(document_.text);
      else if (name === "error") throw new api.Problem(document_);
      else if (name === "answer") {
        answer.finish(document_);
        passages.cite(document_.citations);
        isWhole = true;
      }
    }
    if (!isWhole) throw new api.Problem({ code: "cut_off", detail: "The answer broke off." });
  } catch (problem) {
    if (signal.aborted) throw problem;
    answer.stop("");
    if (!answer.hasWords()) answer.hide();
    notices.tell(problem, () => working(signal, () => write(request, signal)));
  }
}

function failed(problem) {
  answer.hide();
  if (problem.status === 400 || problem.status === 422) {
    fault(`${sentenceOf(problem.message)} ${problem.remedy ? sentenceOf(problem.remedy) : ""}`);
    filter.focus();
    say(problem.message);
    return;
  }
  if (!(problem instanceof api.Problem)) throw problem; // a slip of this page
  passages.hide();
  notices.tell(problem, () => ask(asked, { isNew: false }));
}

function fault(text) {
  byId("filter-fault").textContent = text;
  byId("filter-fault").hidden = !text;
  if (text) filter.setAttribute("aria-invalid", "true");
  else filter.removeAttribute("aria-invalid");
}

function stop() {
  asking.abort();
  notices.clear();
  idle();
}

function narrow(condition) {
  const words = filter.value.trim().split(/\s+/).filter(Boolean);
  const others = words.filter((word) => word !== condition);
  filter.value = (others.length < words.length ? others : [...words, condition]).join(" ");
  ask(inForm());
}

// ---- the address, which reproduces the view

function addressOf(request, rank = 0) {
  const parameters = new URLSearchParams({ q: request.query, k: request.k });
  if (request.filter) parameters.set("filter", request.filter);
  if (request.only) parameters.set("only", "passages");
  if (request.collection !== null) parameters.set("collection", request.collection);
  if (rank) parameters.set("open", rank);
  return `/?${parameters}`;
}

function keepOpened(rank) {
  if (asked) history.replaceState(null, "", addressOf(asked, rank));
}

function fromAddress() {
  const given = new URLSearchParams(location.search);
  const query = (given.get("q") || "").trim();
  const k = Math.min(Math.max(Math.round(Number(given.get("k"))) || 10, 1), 100);
  const request = {
    query, k, filter: given.get("filter") || "", only: given.get("only") === "passages",
    collection: given.get("collection"),
  };
  if (query) return void ask(request, { isNew: false, rank: Number(given.get("open")) || 0 });
  stop();
  pane.close();
  asked = null;
  putInForm({ query: "", k: 10, filter: "", only: false, collection: request.collection });
  answer.hide();
  passages.hide();
  document.title = "ragmachine";
  start();
}

async function start() {
  choice.load().catch(() => {}); // whatever it is, the request below meets it as well
  const collection = choice.value();
  const isLate = () => collection !== choice.value(); // another one was chosen meanwhile
  try {
    const stats = await api.get(api.withQuery("/stats", api.named(collection)));
    if (isLate()) return;
    startDrawn(stats);
    if (asked) hideStart();
  } catch (problem) {
    if (!asked && !isLate()) notices.tell(problem, start);
  }
}

// ---- the form and the keys

function grow() {
  question.style.height = "auto";
  question.style.height = `${Math.min(question.scrollHeight + 2, 220)}px`;
}

question.addEventListener("input", grow);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    ask(inForm());
  }
  const isAtEnd = question.selectionStart === question.value.length;
  if (event.key === "ArrowDown" && isAtEnd && !byId("passages").hidden) {
    event.preventDefault();
    passages.focusFirst();
  }
});
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(inForm());
});
byId("stop").addEventListener("click", () => {
  stop();
  answer.stop("Stopped.");
  say("Stopped.");
  question.focus();
});

document.addEventListener("keydown", (event) => {
  const isWriting = event.target.closest("input, textarea, select");
  if (event.key === "/" && !isWriting && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (document.querySelector("dialog:modal")) return;
    event.preventDefault();
    question.focus();
    question.select();
  } else if (event.key === "Escape" && !document.querySelector("dialog:modal")) {
    if (pane.isOpen()) pane.close();
    else if (document.body.classList.contains("is-asking")) byId("stop").click();
  }
});

historyDialog((request) => ask(request));
uploadDialog(
  () => {
    notices.clear();
    start();
  },
  (conditions) => {
    if (conditions) filter.value = conditions;
    question.focus();
    question.select();
  },
  choice.value,
);
window.addEventListener("popstate", fromAddress);

frame();
fromAddress();
if (asked) start();
else question.focus();
