import { fence } from '../lib/fence.ts';

/** Limit of the text that `read_file` shows at once, in characters (UTF-16 units). */
export const shownText = 20_000;

interface ReadPages {
  pages: readonly { page: number; lines: readonly { text: string }[] }[];
  total: number;
  warnings: readonly { code: string; message: string }[];
}

interface Wanted {
  from: number;
  to: number | null;
  /** Characters of the text to pass over. */
  offset: number;
}

/**
 * The text of the pages for a model, as data, and where to go on. It ends with a whole page, unless the first one alone is
 * too long.
 */
export const showPages = ({ pages, total, warnings }: ReadPages, { from, to, offset }: Wanted): string => {
  // The position to continue from says already that the text is cut.
  const notes = warnings.filter(({ code }) => code !== 'text_left_out').map(({ message }) => message);
  if (pages.length === 0) return `The document has ${total} ${total === 1 ? 'page' : 'pages'}.`;
  let shown = '';
  let next: string | null = null;
  for (const { page, lines } of pages) {
    const header = total === 1 ? '' : `[page ${page}]\n`;
    const text = header + lines.map((line) => `${line.text}\n`).join('');
    const rest = page === from ? text.slice(offset) : text;
    if (shown !== '' && shown.length + rest.length > shownText) {
      next = `page_from ${page}`;
      break;
    }
    shown += rest.slice(0, shownText);
    if (rest.length > shownText) {
      next = `page_from ${page} and offset ${offset + shownText}`;
      break;
    }
  }
  const last = pages.at(-1)!.page;
  if (next === null && last < Math.min(to ?? total, total)) next = `page_from ${last + 1}`;
  const end =
    last < total ? `This is the end of page ${last}; the document has ${total} pages.` : 'This is its end.';
  return [...notes, fence(shown), next === null ? end : `There is more: go on with ${next}.`].join('\n');
};
