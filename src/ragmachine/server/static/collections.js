// Which of the server's collections is asked; there is a choice where there is more than one.

import * as api from "./api.js";
import { byId, el } from "./dom.js";

const WITHOUT_NAME = "(no name)";

/**
 * Null stands for the server's own collection, which need not be named.
 *
 * @param {() => void} onChange called when it is another one now
 */
export function collectionChoice(onChange) {
  const select = byId("collection");
  let usual = null; // name of the server's own, once it is known
  let first = null; // what is asked where nothing is chosen: that one, if there is an index

  select.addEventListener("change", onChange);

  const value = () => (select.selectedIndex < 0 || select.value === usual ? null : select.value);

  function put(name) {
    const names = [...select.options].map((option) => option.value);
    if (name !== null && !names.includes(name)) draw([...names, name]);
    const wanted = name ?? first;
    if (wanted === null) select.selectedIndex = -1;
    else select.value = wanted;
  }

  function draw(names) {
    select.replaceChildren(...names.map((name) => el("option", { value: name }, name || WITHOUT_NAME)));
    byId("collection-choice").hidden = names.length < 2;
  }

  /** Fill in what the server has, once; where it has none of its own, the first other one is asked. */
  async function load() {
    if (usual !== null) return;
    const found = await api.get("/collections");
    const names = found.collections.map((row) => row.collection);
    const before = value();
    usual = found.default;
    first = names.includes(usual) ? usual : names[0] ?? null;
    draw(before === null || names.includes(before) ? names : [...names, before]);
    put(before);
    if (value() !== before) onChange();
  }

  return { value, put, load };
}
