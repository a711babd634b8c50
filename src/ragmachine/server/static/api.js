// The server's HTTP API: JSON, server-sent events, uploads. Problems become `Problem`.

const TOKEN = "ragmachine.token";
export const GONE = "server_gone";

let askForToken = async () => false;

/** Whoever asks a person for a token; resolves to whether one was given. */
export function onTokenWanted(ask) {
  askForToken = ask;
}

export function keepToken(value) {
  try {
    sessionStorage.setItem(TOKEN, value);
  } catch { /* storage may be forbidden: it is asked for again */ }
  given = value;
}

let given = "";
try {
  given = sessionStorage.getItem(TOKEN) || "";
} catch { /* likewise */ }

export const hasToken = () => given !== "";

/** What went wrong, in the server's words (RFC 9457). */
export class Problem extends Error {
  constructor(document, retryAfter = 0) {
    super(document.detail || document.title || "the request failed");
    this.code = document.code || "";
    this.status = document.status || 0;
    this.remedy = document.remedy || "";
    this.requestId = document.request_id || "";
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may well succeed in a moment. */
  get isBusy() {
    return ["queue_full", "timeout", "shutting_down", "too_many_requests"].includes(this.code);
  }
}

const headers = (more = {}) => (given ? { ...more, authorization: `Bearer ${given}` } : more);

const gone = () =>
  new Problem({ code: GONE, detail: "The server does not answer.", remedy: "" });

async function problemIn(response) {
  const retryAfter = Number(response.headers.get("retry-after")) || 0;
  let document = {};
  try {
    document = await response.json();
  } catch { /* something between here and the server wrote it */ }
  return new Problem({ status: response.status, detail: response.statusText, ...document }, retryAfter);
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw gone();
  }
  if (response.ok) return response;
  const problem = await problemIn(response);
  if (problem.status === 401 && (await askForToken())) return request(path, options);
  throw problem;
}

const posted = (document, signal) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(document),
  signal,
});

export const get = async (path, signal) => (await request(path, { signal })).json();

export const post = async (path, document, signal) =>
  (await request(path, posted(document, signal))).json();

export const blob = async (path) => (await request(path)).blob();

/** The events of an answer as they come: [name, document]. */
export async function* events(path, document, signal) {
  const response = await request(path, posted(document, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += value || "";
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      yield* blocks.map(eventIn).filter(Boolean);
      if (done) return;
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Problem) throw error;
    throw gone();
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventIn(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? [name, JSON.parse(data.join("\n"))] : null;
}

/** Where lines of an indexed file, or the file itself, are read. */
export function sourceUrl(filePath, query = {}) {
  const path = filePath.split("/").map(encodeURIComponent).join("/");
  const text = new URLSearchParams(query).toString();
  return `/source/${path}${text ? `?${text}` : ""}`;
}

/** Send files; fetch cannot tell how much of a body is out, so this is an older interface. */
export function upload(files, onProgress) {
  const body = new FormData();
  for (const file of files) body.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", "/ingest/upload");
    for (const [name, value] of Object.entries(headers())) sending.setRequestHeader(name, value);
    sending.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    sending.addEventListener("error", () => reject(gone()));
    sending.addEventListener("load", () => {
      let document = {};
      try {
        document = JSON.parse(sending.responseText);
      } catch { /* as above */ }
      if (sending.status < 300) resolve(document);
      else reject(new Problem({ status: sending.status, detail: sending.statusText, ...document }));
    });
    sending.send(body);
  });
}
