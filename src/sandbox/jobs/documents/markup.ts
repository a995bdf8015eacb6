/** Elements whose content no reader sees. Their content is text up to the closing tag. */
const unseen = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'svg', 'math']);
/** Elements in which there are no tags. */
const rawText = new Set(['textarea', 'title']);
/** Elements that begin and end a line. */
const blocks = new Set(
  'address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody tfoot thead tr ul title textarea'.split(
    ' ',
  ),
);
const cells = new Set(['td', 'th']);

/** The names of U+00A0 to U+00FF, in their order. */
const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const others =
  'amp:& lt:< gt:> quot:" apos:\' euro:€ ndash:– mdash:— lsquo:‘ rsquo:’ sbquo:‚ ldquo:“ rdquo:” bdquo:„ bull:• hellip:… trade:™ lsaquo:‹ rsaquo:› OElig:Œ oelig:œ Scaron:Š scaron:š Yuml:Ÿ fnof:ƒ circ:ˆ tilde:˜ dagger:† Dagger:‡ permil:‰ prime:′ Prime:″ minus:− ne:≠ le:≤ ge:≥ asymp:≈ infin:∞ rarr:→ larr:← uarr:↑ darr:↓ harr:↔ check:✓ num:# dollar:$ percnt:% commat:@ lpar:( rpar:) colon:: semi:; comma:, period:. excl:! quest:? sol:/ bsol:\\ lowbar:_ hyphen:‐ thinsp:\u2009 ensp:\u2002 emsp:\u2003 zwnj:\u200c zwj:\u200d';
const names = new Map<string, string>([
  ...latin.split(' ').map((name, i): [string, string] => [name, String.fromCharCode(0xa0 + i)]),
  ...others.split(' ').map((entry): [string, string] => {
    const at = entry.indexOf(':');
    return [entry.slice(0, at), entry.slice(at + 1)];
  }),
]);

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][\da-zA-Z]{1,31}));?/g, (whole, ...found) => {
    const [decimal, hex, name] = found as (string | undefined)[];
    if (name) return names.get(name) ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex!, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : '\ufffd';
  });

const tagName = /^<\/?([a-zA-Z][a-zA-Z0-9-]{0,30})/;

/** Returns the end of the tag that begins at `start`; a `>` in a quoted value does not end it. */
const endOfTag = (html: string, start: number): number => {
  let quote = '';
  for (let i = start + 1; i < html.length; i++) {
    const c = html[i]!;
    if (quote !== '') {
      if (c === quote) quote = '';
    } else if ((c === '"' || c === "'") && html[i - 1] === '=') quote = c;
    else if (c === '>') return i + 1;
  }
  return html.length;
};

/**
 * The text of HTML as a reader sees it: a line for each block, the cells of a row divided by tabs. It reads each
 * character a fixed number of times, whatever the tags are.
 */
export const linesOfMarkup = (html: string): string[] => {
  const lines: string[] = [];
  let line = '';
  let hasText = false;
  // Ends also where a body begins: the closing tag may be left out.
  let inHead = false;
  const endLine = (): void => {
    const text = line
      .replace(/[^\S\t]+/g, ' ')
      .replace(/ ?\t ?/g, '\t')
      .trim();
    if (text !== '') lines.push(text);
    line = '';
    hasText = false;
  };
  const addText = (text: string): void => {
    if (inHead) return;
    line += decodeEntities(text.replace(/\s+/g, ' '));
    hasText ||= /\S/.test(text);
  };
  // In small letters, once: a closing tag is looked for in it. The length stays only with ASCII letters.
  const folded = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  /** The position of the closing tag, or the end. */
  const closing = (name: string, from: number): number => {
    const found = folded.indexOf(`</${name}`, from);
    return found === -1 ? html.length : found;
  };
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag === -1) {
      addText(html.slice(at));
      break;
    }
    addText(html.slice(at, tag));
    if (html.startsWith('<!--', tag)) {
      const end = html.indexOf('-->', tag + 4);
      at = end === -1 ? html.length : end + 3;
      continue;
    }
    if (html[tag + 1] === '!' || html[tag + 1] === '?') {
      at = endOfTag(html, tag);
      continue;
    }
    const name = tagName.exec(html.slice(tag, tag + 34))?.[1]?.toLowerCase();
    if (name === undefined) {
      addText('<');
      at = tag + 1;
      continue;
    }
    at = endOfTag(html, tag);
    const isClosing = html[tag + 1] === '/';
    if (name === 'head') inHead = !isClosing;
    else if (name === 'body') inHead = false;
    if (blocks.has(name)) endLine();
    else if (cells.has(name) && !isClosing && hasText) line += '\t';
    if (isClosing || html.startsWith('/>', at - 2)) continue;
    if (unseen.has(name)) {
      const end = closing(name, at);
      at = end === html.length ? end : endOfTag(html, end);
    } else if (rawText.has(name)) {
      const end = closing(name, at);
      addText(html.slice(at, end));
      at = end;
    }
  }
  endLine();
  return lines;
};
