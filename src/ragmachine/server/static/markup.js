// An answer's text as blocks of pieces, each with its place in the text. Knows the little Markdown
// that models write: paragraphs, lists, headings, tables, code, bold, and citations like [1].
// Places are indices into the JavaScript string, see `Places`.

const INLINE = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*([^*\n]+)\*\*|\[(\d{1,4})\]/g;
const FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^(\s*)(?:[-*+•]|(\d{1,3})[.)])\s+/;
const HEADING = /^#{1,6}\s+/;

/** Translates the API's character offsets, which count code points, into string indices. */
export class Places {
  constructor(text) {
    this.indices = null;
    if (/[\ud800-\udbff]/.test(text)) {
      this.indices = [0];
      for (const character of text) this.indices.push(this.indices.at(-1) + character.length);
    }
    this.end = text.length;
  }

  of(offset) {
    return this.indices ? this.indices[offset] ?? this.end : Math.min(offset, this.end);
  }
}

/**
 * @param {string} text
 * @param {boolean} isQuoted the words of documents: only tables and citations are read
 * @returns {{kind: string, pieces?: object[], rows?: object[][][]}[]} blocks of kinds `p`, `li`
 *   (with `marker`), `h`, `pre` and `table`; pieces are {kind, start, end, text, number}
 */
export function blocksOf(text, isQuoted) {
  const blocks = [];
  const lines = [];
  for (const match of text.matchAll(/[^\n]*(?:\n|$)/g)) {
    if (match[0]) lines.push({ start: match.index, text: match[0].replace(/\r?\n$/, "") });
  }
  let paragraph = null;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line.text.startsWith("|")) {
      const first = at;
      while (lines[at + 1]?.text.startsWith("|")) at += 1;
      blocks.push({ kind: "table", rows: rowsOf(lines.slice(first, at + 1), isQuoted) });
      paragraph = null;
    } else if (!isQuoted && FENCE.test(line.text)) {
      const fence = FENCE.exec(line.text)[1];
      const first = at + 1;
      while (at + 1 < lines.length && !lines[at + 1].text.trim().startsWith(fence)) at += 1;
      const inside = lines.slice(first, at + 1);
      at += 1;
      paragraph = null;
      if (inside.length) {
        const { start } = inside[0];
        const end = inside.at(-1).start + inside.at(-1).text.length;
        const piece = { kind: "text", start, end, text: text.slice(start, end) };
        blocks.push({ kind: "pre", pieces: [piece] });
      }
    } else if (!line.text.trim()) {
      paragraph = null;
    } else {
      paragraph = addLine(blocks, paragraph, line, text, isQuoted);
    }
  }
  return blocks;
}

function addLine(blocks, paragraph, line, text, isQuoted) {
  const item = isQuoted ? null : ITEM.exec(line.text);
  const heading = isQuoted ? null : HEADING.exec(line.text);
  const head = (item || heading)?.[0].length || 0;
  const pieces = piecesOf(line.text.slice(head), line.start + head, isQuoted);
  if (heading) {
    blocks.push({ kind: "h", pieces });
    return null;
  }
  if (item) {
    const block = { kind: "li", marker: item[2] ? `${item[2]}.` : "•", depth: item[1].length, pieces };
    blocks.push(block);
    return block;
  }
  if (paragraph) {
    const { start } = line;
    const between = isWrapped(paragraph.last, line.text) ? " " : "\n";
    paragraph.pieces.push({ kind: "text", start: start - 1, end: start, text: between }, ...pieces);
    paragraph.last = line.text;
    return paragraph;
  }
  const block = { kind: "p", pieces, last: line.text };
  blocks.push(block);
  return block;
}

/** Prose that was broken to fit a width, and reads better as one line. */
function isWrapped(before, after) {
  return before?.length > 55 && /[\p{L}\p{N},]$/u.test(before) && /^[\p{Ll}\p{N}]/u.test(after);
}

/** Text taken apart, from a place on. */
function piecesOf(text, start, isQuoted) {
  const pieces = [];
  let at = 0;
  const add = (kind, from, to, more = {}) => {
    if (to > from) {
      pieces.push({ kind, start: start + from, end: start + to, text: text.slice(from, to), ...more });
    }
  };
  for (const match of text.matchAll(INLINE)) {
    const from = match.index;
    const to = from + match[0].length;
    const isCitation = match[4] !== undefined;
    if (isCitation ? isQuoted && !standsAlone(text, from, to) : isQuoted) continue;
    add("text", at, from);
    if (isCitation) add("cite", from, to, { number: Number(match[4]) });
    else if (match[3] !== undefined) add("strong", from + 2, to - 2);
    else add("code", from + match[1].length, to - match[1].length);
    at = to;
  }
  add("text", at, text.length);
  return pieces;
}

/** In quoted code, x[1] is no citation; quotations are followed by " [1]". */
function standsAlone(text, from, to) {
  return /(?:^|[\s\]])$/.test(text.slice(0, from)) && /^(?:\s|\[|$)/.test(text.slice(to));
}

function rowsOf(lines, isQuoted) {
  const rows = [];
  for (const line of lines) {
    if (/^[|\s:-]+$/.test(line.text)) continue; // the rule below a header
    const cells = [];
    let from = 1;
    for (let at = 1; at <= line.text.length; at += 1) {
      const isEnd = at === line.text.length;
      if (!isEnd && (line.text[at] !== "|" || line.text[at - 1] === "\\")) continue;
      const cell = line.text.slice(from, at);
      if (cell.trim() || !isEnd) {
        const blank = cell.length - cell.trimStart().length;
        cells.push(piecesOf(cell.trim(), line.start + from + blank, isQuoted));
      }
      from = at + 1;
    }
    rows.push(cells);
  }
  const most = Math.max(...rows.map((cells) => cells.length));
  for (const cells of rows) while (cells.length < most) cells.push([]);
  return rows;
}
