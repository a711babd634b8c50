// The pane with the lines of a file: beside the page where there is room, else over it.

import * as api from "./api.js";
import { byId, button, copying, el, isPdf, lineRow, linesOf, location_, marked, pageOf, say, show } from "./dom.js";

const AROUND = 25;
const MORE = 200;
const WIDE = window.matchMedia("(min-width: 1080px)");

/** @param {(opened: object|null) => void} onChange told what is open, for the address */
export function sourcePane(onChange) {
  const pane = byId("pane");
  const body = byId("pane-body");
  let opener = null;
  let now = null; // what is shown; answers for anything else come too late
  let pageUrl = "";

  byId("pane-close").addEventListener("click", close);
  pane.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  WIDE.addEventListener("change", () => {
    if (!pane.open) return;
    pane.close();
    present();
  });

  function present() {
    document.body.classList.add("has-pane");
    if (WIDE.matches) pane.show();
    else pane.showModal();
  }

  /**
   * @param {object} where a hit or a citation
   * @param {object} options collection: that it is of; exact: the lines that say it best; pattern:
   *   words to mark; opener: what gets the focus back; isQuiet: leave the focus where it is; rank: of a hit
   */
  async function open(where, options = {}) {
    opener = options.opener || opener;
    now = { where, ...options };
    const focused = document.activeElement;
    if (!pane.open) present();
    const parts = where.file_path.split("/");
    byId("pane-title").textContent = parts.at(-1);
    byId("pane-where").textContent = location_(where);
    drawTools(where);
    if (!options.isQuiet || pane.matches(":modal")) byId("pane-title").focus();
    else focused?.focus({ preventScroll: true }); // opening a dialog takes it
    onChange(now);
    if (isPdf(where) && navigator.pdfViewerEnabled) await showPage(now);
    else await showText(now);
  }

  function drawTools(where, mode = "text") {
    const tools = [button("Copy place", (event) => copying(event.target, () => location_(where)))];
    if (isPdf(where)) {
      const page = pageOf(where);
      const pressed = (name) => ({ "aria-pressed": String(mode === name) });
      tools.unshift(
        button(page ? `Page ${page}` : "PDF", () => showPage(now), pressed("page")),
        button("Text", () => showText(now), pressed("text")),
      );
    }
    tools.push(button(isPdf(where) ? "Open in a tab" : "Save the file", () => openFile(now)));
    show(byId("pane-tools"), tools);
  }

  async function showPage(shown) {
    drawTools(shown.where, "page");
    const page = pageOf(shown.where);
    try {
      const url = await fileUrl(shown);
      if (shown !== now) return;
      const title = `${shown.where.file_path}${page ? `, page ${page}` : ""}`;
      show(body, el("iframe", { class: "page", title, src: `${url}${page ? `#page=${page}` : ""}` }));
    } catch (problem) {
      if (shown === now) fail(problem);
    }
  }

  /** A frame and a new tab send no token; where there is one, the bytes are fetched first. */
  async function fileUrl({ where, collection }) {
    const url = api.sourceUrl(where.file_path, collection, { format: "file" });
    if (!api.hasToken()) return url;
    const bytes = await api.blob(url);
    if (pageUrl) URL.revokeObjectURL(pageUrl);
    pageUrl = URL.createObjectURL(bytes);
    return pageUrl;
  }

  async function openFile(shown) {
    const { where } = shown;
    try {
      const page = pageOf(where);
      const url = await fileUrl(shown);
      const link = el("a", { href: `${url}${page ? `#page=${page}` : ""}`, rel: "noopener" });
      if (isPdf(where)) link.target = "_blank";
      else link.download = where.file_path.split("/").at(-1);
      link.click();
    } catch (problem) {
      fail(problem);
    }
  }

  async function showText(shown) {
    const { where, exact } = shown;
    drawTools(where, "text");
    body.setAttribute("aria-busy", "true");
    try {
      const first = Math.max(1, where.first_line - AROUND);
      const excerpt = await read(shown, first, where.last_line + AROUND);
      if (shown !== now) return;
      const code = el("code", {}, rowsOf(excerpt, shown));
      const above = button("Show more above", () => more(-1));
      const below = button("Show more below", () => more(1));
      show(body, above, el("pre", { class: "code whole" }, code), below);
      shown.range = [excerpt.first_line, excerpt.last_line];
      const update = () => {
        above.hidden = shown.range[0] <= 1;
        below.hidden = shown.range[1] >= excerpt.total_lines;
      };
      update();
      const more = async (direction) => {
        const [from, to] = shown.range;
        const wanted = direction < 0 ? [Math.max(1, from - MORE), from - 1] : [to + 1, to + MORE];
        const next = await read(shown, ...wanted).catch(fail);
        if (!next || shown !== now) return;
        const rows = rowsOf(next, shown);
        if (direction < 0) code.prepend(...rows);
        else code.append(...rows);
        shown.range = direction < 0 ? [next.first_line, to] : [from, next.last_line];
        update();
      };
      scrollTo((exact || where).first_line);
      say(`${location_(exact || where)} opened.`);
    } catch (problem) {
      if (shown === now) fail(problem);
    } finally {
      body.setAttribute("aria-busy", "false");
    }
  }

  const read = ({ where, collection }, first, last) =>
    api.get(api.sourceUrl(where.file_path, collection, { start_line: first, end_line: last }));

  function rowsOf(excerpt, { where, exact, pattern }) {
    return linesOf(excerpt.text).map((text, index) => {
      const number = excerpt.first_line + index;
      const isIn = (span) => span && span.first_line <= number && number <= span.last_line;
      const kind = isIn(exact) ? "hit-line exact" : isIn(where) ? "hit-line" : "";
      return lineRow(number, kind ? marked(text, pattern) : text, kind);
    });
  }

  /** A third from the top, without moving the page behind. */
  function scrollTo(line) {
    const row = body.querySelector(`[data-line="${line}"]`);
    if (row) body.scrollTop += row.getBoundingClientRect().top - body.getBoundingClientRect().top
      - body.clientHeight / 4;
  }

  function fail(problem) {
    show(body, el("div", { class: "notice", role: "alert" }, el("p", {}, problem.message),
      problem.remedy ? el("p", { class: "hint" }, problem.remedy) : null));
  }

  function close() {
    if (!pane.open) return;
    now = null;
    pane.close();
    body.replaceChildren();
    document.body.classList.remove("has-pane");
    onChange(null);
    if (opener?.isConnected) opener.focus();
    else byId("question").focus();
    opener = null;
  }

  return { open, close, isOpen: () => pane.open };
}
