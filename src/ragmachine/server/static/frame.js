// What stands around the page: the theme, dialogs that close, and the token where one is wanted.

import * as api from "./api.js";
import { byId, say } from "./dom.js";

const THEMES = ["system", "light", "dark"];

function drawTheme() {
  const text = `Theme: ${document.documentElement.dataset.theme || "system"}`;
  byId("theme").setAttribute("aria-label", text);
  byId("theme").title = text;
}

function nextTheme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    localStorage.setItem("ragmachine.theme", next);
  } catch { /* storage may be forbidden: it lasts until the page is left */ }
  drawTheme();
  say(`Theme: ${next}`);
}

let wanted = null;

/** Ask for the token; one dialog for all requests that wait for it. */
function askForToken() {
  wanted ||= new Promise((resolve) => {
    const dialog = byId("token");
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      const value = dialog.returnValue;
      byId("token-value").value = "";
      wanted = null;
      if (value) api.keepToken(value);
      resolve(Boolean(value));
    }, { once: true });
    dialog.showModal();
  });
  return wanted;
}

/** Make it all work; called once. */
export function frame() {
  drawTheme();
  byId("theme").addEventListener("click", nextTheme);
  for (const dialog of document.querySelectorAll(".sheet-dialog")) {
    dialog.addEventListener("click", (event) => {
      const box = dialog.getBoundingClientRect();
      const isIn = box.left <= event.clientX && event.clientX <= box.right
        && box.top <= event.clientY && event.clientY <= box.bottom;
      const isBeside = event.target === dialog && !isIn;
      if (isBeside || event.target.closest("[data-close]")) dialog.close();
    });
  }
  byId("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("token").close(byId("token-value").value.trim());
  });
  api.onTokenWanted(askForToken);
}
