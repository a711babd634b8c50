// What is shown when there is no answer to show: the start, no index, no server, too much to do.

import * as api from "./api.js";
import { byId, button, capital, count, el, say, sentenceOf, show, withCode } from "./dom.js";

const NO_INDEX = new Set(["index_missing", "index_corrupt", "index_version"]);
const AGAIN_S = 5;
const LOOK_MS = 2500;

/** Notices above the answer; each replaces the one before. */
export class Notices {
  constructor() {
    this.box = byId("notices");
    this.timers = new Set();
  }

  clear() {
    this.timers.forEach(clearInterval);
    this.timers.clear();
    this.box.replaceChildren();
  }

  put(title, detail, remedy, tools = [], kind = "") {
    this.clear();
    const notice = el("div", { class: `notice ${kind}`.trim(), role: "alert" }, el("h2", {}, title),
      detail ? el("p", {}, withCode(detail)) : null, remedy ? el("p", { class: "hint" }, withCode(remedy)) : null);
    if (tools.length) notice.append(el("div", { class: "tools" }, tools));
    show(this.box, notice);
  }

  /** Act once, as soon as it is time, unless the notice has gone by then. */
  when(isTime, milliseconds, act) {
    const timer = setInterval(async () => {
      if (!(await isTime()) || !this.timers.delete(timer)) return;
      clearInterval(timer);
      act();
    }, milliseconds);
    this.timers.add(timer);
  }

  /** @param {() => void} again does what failed once more */
  tell(problem, again) {
    const retry = () => { this.clear(); again(); };
    if (problem.code === api.GONE) this.#gone(retry);
    else if (problem.isBusy) this.#busy(problem, retry);
    else if (NO_INDEX.has(problem.code)) this.#noIndex(problem, retry);
    else {
      const id = problem.requestId ? ` (request ${problem.requestId})` : "";
      const title = problem.code === "model_unavailable" ? "The model cannot be asked" : "That did not work";
      this.put(title, capital(problem.message) + (problem.status >= 500 ? id : ""), problem.remedy,
        [button("Try again", retry)]);
    }
  }

  #gone(retry) {
    this.put("The server does not answer", "It may have been stopped, or the network is down. "
      + "The question is asked again as soon as it is back.", "`ragmachine serve` starts it",
    [button("Try now", retry), button("Leave it", () => this.clear())]);
    const isBack = () => fetch("/health").then((response) => response.ok, () => false);
    this.when(isBack, LOOK_MS, retry);
  }

  #noIndex(problem, retry) {
    this.clear();
    noIndex(problem);
    const isThere = async () => {
      const health = await fetch("/health").then((response) => response.json()).catch(() => null);
      return health?.components?.index?.ok;
    };
    this.when(isThere, LOOK_MS, retry);
  }

  #busy(problem, retry) {
    let left = Math.ceil(problem.retryAfter) || AGAIN_S;
    const counter = el("span", { class: "badge", "aria-hidden": "true" }, `${left} s`);
    this.put("The server is busy", `${sentenceOf(problem.message)} The question is asked again by itself.`, "",
      [counter, button("Try now", retry), button("Leave it", () => this.clear())], "patient");
    const isOver = () => {
      left -= 1;
      counter.textContent = `${left} s`;
      return left <= 0;
    };
    this.when(isOver, 1000, retry);
  }
}

function noIndex(problem) {
  byId("corpus").textContent = "no index";
  const isMissing = problem.code === "index_missing";
  show(
    byId("start"),
    el("h2", { id: "start-title" }, isMissing ? "Nothing is indexed yet" : "The index cannot be read"),
    el("p", {}, isMissing
      ? "Index a folder of code and documents, then ask about it here. This page needs no restart."
      : sentenceOf(problem.message)),
    el("pre", { class: "command" }, el("code", {}, "ragmachine index --target_dir FOLDER")),
    el("p", {}, "Or begin with a few files:"),
    button("Upload files", () => byId("open-upload").click(), { class: "main" }),
  );
  say(byId("start").querySelector("h2").textContent);
}

/** The page before anything is asked. */
export function startDrawn(stats) {
  const { index, generation } = stats;
  byId("corpus").textContent = `${index.corpus_root || "."}: ${count(index.files, "file")}, ${count(index.chunks, "passage")}`;
  const writer = generation.asked === "extractive"
    ? "Answers are quotations from the files; no model is asked."
    : `Answers are written by ${generation.model} or whichever model is there, and each sentence is checked`
      + " against the files; where there is none, they are quotations.";
  show(
    byId("start"),
    el("h2", { id: "start-title" }, "Where does it say so?"),
    el("p", {}, `Ask ${count(index.files, "file")} in plain words. The passages come at once, and an answer with the lines it rests on.`),
    el("ul", { class: "tips" },
      el("li", {}, "Names are found whole and in part: ", el("code", {}, "parse_filter"), ", ", el("code", {}, "HTTPResponse"), "."),
      el("li", {}, "Quote what must stand together: ", el("code", {}, '"connection refused"'), "."),
      el("li", {}, "A filter narrows to folders, types or names: ", el("code", {}, "path:docs/**"), "."),
    ),
    el("p", { class: "hint" }, writer),
  );
}

export function hideStart() {
  byId("start").hidden = true;
}

/** Shown in place of a list where nothing was found. */
export function nothingFound(found, request) {
  const tips = [
    request.filter ? "Take out the filter, or make it wider." : null,
    "Use words that the files would use; a name or an error message finds most.",
    "Ask for one thing at a time.",
  ].filter(Boolean);
  return el("li", { class: "nothing" }, el("p", {}, sentenceOf(found.notice || "nothing in the index bears on this question")),
    el("ul", {}, tips.map((tip) => el("li", {}, tip))));
}
