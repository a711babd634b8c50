// Files sent to the server, with the progress of sending and of indexing.

import * as api from "./api.js";
import { byId, button, count, el, show } from "./dom.js";

const POLL_MS = 500;

/**
 * @param {() => void} onIndexed called when new files can be asked about
 * @param {(filter: string) => void} onAsk goes to the question
 * @param {() => string|null} collection where files go
 */
export function uploadDialog(onIndexed, onAsk, collection) {
  const dialog = byId("upload");
  const input = byId("files");
  const progress = byId("progress");
  let files = [];

  byId("open-upload").addEventListener("click", open);
  input.addEventListener("change", () => choose([...input.files]));
  const drop = byId("drop");
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") choose([...event.dataTransfer.files]);
    });
  }
  byId("upload-form").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });

  function open() {
    if (!progress.hidden) return void dialog.showModal(); // still at it
    choose([]);
    input.value = "";
    tell("");
    byId("after-upload").replaceChildren();
    dialog.showModal();
  }

  function choose(chosen) {
    files = chosen;
    byId("send").disabled = !files.length;
    show(byId("chosen"), files.map((file) => el("li", {}, file.name, " ",
      el("span", { class: "hint" }, sizeOf(file.size)))));
  }

  const tell = (text, isFault = false) => {
    byId("job").textContent = text;
    byId("job").classList.toggle("fault", isFault);
  };

  async function send() {
    byId("send").disabled = true;
    progress.hidden = false;
    progress.value = 0;
    byId("after-upload").replaceChildren();
    tell(`Sending ${count(files.length, "file")}…`);
    try {
      const { stored, job } = await api.upload(files, collection(), (share) => {
        progress.value = share;
        if (share >= 1) tell("Sent. Waiting to be indexed…");
      });
      progress.removeAttribute("value"); // how long indexing takes is not known
      finished(await ended(job), stored);
    } catch (problem) {
      tell([problem.message, problem.remedy].filter(Boolean).join(" — "), true);
      byId("send").disabled = false;
    } finally {
      progress.hidden = true;
    }
  }

  /** The job once it is over. */
  async function ended(job) {
    let latest = job;
    while (latest.state === "queued" || latest.state === "running") {
      const isRunning = latest.state === "running";
      tell(isRunning ? `Indexing… ${count(latest.files_done, "file")} done` : "Waiting to be indexed…");
      await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
      latest = await api.get(`/jobs/${encodeURIComponent(latest.job_id)}`);
    }
    if (latest.state === "failed") throw new api.Problem(latest.error || {});
    return latest;
  }

  function finished(job, stored) {
    const { files: all, chunks, problems } = job.report;
    const odd = problems.filter((problem) => stored.some((name) => problem.file_path.endsWith(name)));
    const reasons = odd.map((problem) => `${problem.file_path}: ${problem.reason}`);
    tell([`Indexed: ${count(all, "file")}, ${count(chunks, "passage")} in all.`, ...reasons].join(" "));
    const go = (filter) => () => {
      dialog.close();
      onAsk(filter);
    };
    const everything = button("Ask a question", go(""), { class: "main" });
    const these = stored.length === 1 ? `path:${stored[0]}` : "";
    const alone = these && !/["'\\\s]/.test(these) ? button("Ask only this file", go(these)) : null;
    show(byId("after-upload"), everything, alone);
    choose([]);
    input.value = "";
    everything.focus();
    onIndexed();
  }
}

function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
