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
  constructor(document) {
    super(document.detail || document.title || "the request failed");
    this.code = document.code || "";
    this.status = document.status || 0;
    this.remedy = document.remedy || "";
    this.requestId = document.request_id || "";
    this.retryAfter = document.retry_after || 0;
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
  const retry_after = Number(response.headers.get("retry-after")) || 0;
  let document = {};
  try {
    document = await response.json();
  } catch { /* something between here and the server wrote it */ }
  return new Problem({ status: response.status, detail: response.statusText, retry_after, ...document });
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

/** The field, or the parameter, that names a collection; none where it is null, the server's own. */
export const named = (collection) => (collection === null ? {} : { collection });

/** A path with its parameters. */
export function withQuery(path, query) {
  const text = new URLSearchParams(query).toString();
  return text ? `${path}?${text}` : path;
}

/** Where lines of an indexed file, or the file itself, are read. */
export function sourceUrl(filePath, collection, query = {}) {
  const path = filePath.split("/").map(encodeURIComponent).join("/");
  return withQuery(`/source/${path}`, { ...query, ...named(collection) });
}

/** Send files to a collection; where a token is wanted, it is asked for and they are sent again. */
export async function upload(files, collection, onProgress) {
  const body = new FormData();
  for (const [name, value] of Object.entries(named(collection))) body.append(name, value);
  for (const file of files) body.append("files", file, file.name);
  for (;;) {
    try {
      return await sent(body, onProgress);
    } catch (problem) {
      if (problem.status !== 401 || !(await askForToken())) throw problem;
    }
  }
}

/** fetch cannot tell how much of a body is out, so this is an older interface. */
function sent(body, onProgress) {
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
