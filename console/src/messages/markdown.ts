/**
 * The part of Markdown that agents write: headings, lists, tables, quotes, code, emphasis and links. Everything else,
 * HTML and images above all, stays the text that it is.
 */
export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'em'; inside: Inline[] }
  | { kind: 'link'; href: string; inside: Inline[] };

export type Block =
  | { kind: 'heading' | 'paragraph'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'line' };

const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const fence = /^\s*(```+|~~~+)/;
const line = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const dashes = /^:?-+:?$/;

/** The depth to which lists and quotes are read. */
const mostDeep = 5;

/** The text of a heading; null for another line. Not one pattern: on many spaces it would take their number cubed. */
const headingOf = (each: string): string | null => {
  const start = /^\s{0,3}#{1,6}(?=\s)/.exec(each);
  if (!start) return null;
  const text = each.slice(start[0].length).trim();
  let end = text.length;
  while (text[end - 1] === '#') end -= 1;
  return text.slice(0, end).trimEnd();
};

const cells = (row: string): string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

const isTable = (lines: readonly string[], at: number): boolean =>
  lines[at]!.includes('|') &&
  (lines[at + 1]?.includes('|') ?? false) &&
  cells(lines[at + 1]!).every((cell) => dashes.test(cell));

const begins = (lines: readonly string[], at: number): boolean => {
  const each = lines[at]!;
  return (
    each.trim() === '' ||
    headingOf(each) !== null ||
    [fence, line, item, /^\s*>/].some((pattern) => pattern.test(each)) ||
    isTable(lines, at)
  );
};

/** The lines from `at` on that `belongs` accepts. */
const take = (lines: readonly string[], at: number, belongs: (line: string, index: number) => boolean) => {
  let end = at;
  while (end < lines.length && belongs(lines[end]!, end)) end += 1;
  return end;
};

const readList = (lines: readonly string[], at: number, deep: number): { block: Block; end: number } => {
  const [, indent = '', mark = '-'] = item.exec(lines[at]!)!;
  const ordered = /\d/.test(mark);
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const match = item.exec(lines[next]!);
    if (!match || match[1]!.length > indent.length + 1 || /\d/.test(match[2]!) !== ordered) break;
    const end = take(lines, next + 1, (each, index) => {
      const inner = item.exec(each);
      if (inner) return inner[1]!.length > indent.length + 1;
      if (each.trim() === '') return /^\s{2,}\S/.test(lines[index + 1] ?? '');
      return /^\s{2,}/.test(each) || !begins(lines, index);
    });
    const inside = [match[3]!, ...lines.slice(next + 1, end).map((each) => each.replace(/^\s{1,4}/, ''))];
    items.push(readBlocks(inside, deep + 1));
    next = end;
    if (lines[next]?.trim() === '' && item.test(lines[next + 1] ?? '')) next += 1;
  }
  return { block: { kind: 'list', ordered, start: Number.parseInt(mark, 10) || 1, items }, end: next };
};

const readBlocks = (lines: readonly string[], deep: number): Block[] => {
  if (deep > mostDeep) return [{ kind: 'paragraph', text: lines.join('\n') }];
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const each = lines[at]!;
    const mark = fence.exec(each)?.[1];
    const title = headingOf(each);
    if (each.trim() === '') at += 1;
    else if (mark) {
      const end = take(lines, at + 1, (code) => !code.trim().startsWith(mark));
      blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') });
      at = end + 1;
    } else if (title !== null) {
      blocks.push({ kind: 'heading', text: title });
      at += 1;
    } else if (line.test(each)) {
      blocks.push({ kind: 'line' });
      at += 1;
    } else if (/^\s*>/.test(each)) {
      const end = take(lines, at, (quoted) => /^\s*>/.test(quoted));
      const inside = lines.slice(at, end).map((quoted) => quoted.replace(/^\s*>\s?/, ''));
      blocks.push({ kind: 'quote', blocks: readBlocks(inside, deep + 1) });
      at = end;
    } else if (isTable(lines, at)) {
      const end = take(lines, at + 2, (row) => row.includes('|'));
      blocks.push({ kind: 'table', head: cells(each), rows: lines.slice(at + 2, end).map(cells) });
      at = end;
    } else if (item.test(each)) {
      const { block, end } = readList(lines, at, deep);
      blocks.push(block);
      at = end;
    } else {
      const end = take(lines, at + 1, (_, index) => !begins(lines, index));
      blocks.push({ kind: 'paragraph', text: lines.slice(at, end).join('\n') });
      at = end;
    }
  }
  return blocks;
};

/** The end of a line, for a `.` in a pattern too: a line that it cannot pass makes patterns backtrack. */
const lineEnd = /\r\n|[\n\r\u2028\u2029]/;

export const parseMarkdown = (text: string): Block[] => readBlocks(text.split(lineEnd), 0);

/** Each with a limit, so that a text that opens and never closes is not read again from each of its marks. */
const inline =
  /(`+)(.{1,2000}?)\1(?!`)|\*\*(?=\S)([^\n]{1,1000}?)\*\*|\b__(?=\S)([^\n]{1,1000}?)__\b|\*(?=[^\s*])([^*\n]{1,1000}?)\*|\b_(?=\S)([^_\n]{1,1000}?)_\b|\[([^\]\n]{1,500})\]\((https?:\/\/[^\s)]{1,2000})\)/g;

export const parseInline = (text: string, deep = 0): Inline[] => {
  if (deep > mostDeep) return [{ kind: 'text', text }];
  const parts: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(inline)) {
    const [whole, , code, strong, strong2, em, em2, label, href] = match;
    if (match.index > at) parts.push({ kind: 'text', text: text.slice(at, match.index) });
    if (code !== undefined) parts.push({ kind: 'code', text: code.trim() });
    else if (href !== undefined) parts.push({ kind: 'link', href, inside: parseInline(label!, deep + 1) });
    else {
      const bold = strong ?? strong2;
      const inside = parseInline(bold ?? em ?? em2 ?? '', deep + 1);
      parts.push({ kind: bold === undefined ? 'em' : 'strong', inside });
    }
    at = match.index + whole.length;
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) });
  return parts;
};
