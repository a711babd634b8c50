// What was asked before, kept in this browser alone.

import { byId, button, el, show } from "./dom.js";

const KEY = "ragmachine.history";
const MOST = 50;

function kept() {
  try {
    const rows = JSON.parse(localStorage.getItem(KEY) || "[]");
    return Array.isArray(rows) ? rows.filter((row) => typeof row?.query === "string") : [];
  } catch {
    return [];
  }
}

function keep(rows) {
  try {
    if (rows.length) localStorage.setItem(KEY, JSON.stringify(rows));
    else localStorage.removeItem(KEY);
  } catch { /* full or forbidden: it is a convenience */ }
}

export function remember({ query, k, filter, only, collection }) {
  const isSame = (row) => row.query === query && (row.filter || "") === filter
    && (row.collection ?? null) === collection;
  const others = kept().filter((row) => !isSame(row));
  keep([{ query, k, filter, only, collection, at: Date.now() }, ...others].slice(0, MOST));
}

/** @param {(request: object) => void} ask asks again */
export function historyDialog(ask) {
  const dialog = byId("history");
  byId("open-history").addEventListener("click", () => {
    draw();
    dialog.showModal();
  });
  byId("clear-history").addEventListener("click", () => {
    keep([]);
    draw();
    byId("history").querySelector("[data-close]").focus();
  });

  function draw() {
    const rows = kept();
    show(byId("asked"), rows.map(rowDrawn));
    byId("history-empty").hidden = rows.length > 0;
    byId("clear-history").hidden = !rows.length;
  }

  function rowDrawn(row) {
    const again = () => {
      dialog.close();
      ask({
        query: row.query, k: Number(row.k) || 10, filter: String(row.filter || ""), only: Boolean(row.only),
        collection: typeof row.collection === "string" ? row.collection : null,
      });
    };
    const when = new Date(Number(row.at) || 0).toLocaleString();
    return el("li", {}, button(row.query, again, { class: "again" }),
      el("span", { class: "hint" }, [when, row.collection, row.filter].filter(Boolean).join(" · ")));
  }
}
