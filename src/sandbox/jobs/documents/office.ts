import mammoth from 'mammoth';
import readSpreadsheet from 'read-excel-file/node';
import { JobFault } from '../fault.ts';
import { refuseCompoundFile } from '../frames/spreadsheet.ts';
import { checkZip } from '../zip-check.ts';
import { linesOfMarkup } from './markup.ts';
import type { Page } from './page.ts';

/** The one page of a DOCX, a line for each block. Pictures are left out; nothing outside the file is opened. */
export const readDocx = async (source: string): Promise<Page> => {
  await refuseCompoundFile(source);
  await checkZip(source);
  try {
    const { value } = await mammoth.convertToHtml(
      { path: source },
      { convertImage: mammoth.images.imgElement(async () => ({ src: '' })), externalFileAccess: false },
    );
    return { page: 1, lines: linesOfMarkup(value).map((text) => ({ text, bbox: null })) };
  } catch {
    throw new JobFault('unreadable', 'the file is not a DOCX that can be read');
  }
};

/** The sheets of an XLSX as pages. A row is a line, its cells divided by tabs; values, not formulas. */
export const readXlsx = async (source: string): Promise<Page[]> => {
  await refuseCompoundFile(source);
  await checkZip(source);
  let sheets: { data: unknown[][] }[];
  try {
    sheets = await readSpreadsheet(source, { trim: false });
  } catch {
    throw new JobFault('unreadable', 'the file is not a spreadsheet that can be read');
  }
  return sheets.map(({ data }, i) => ({
    page: i + 1,
    lines: data.map((row) => ({
      text: row.map(cellText).join('\t').trimEnd(),
      bbox: null,
    })),
  }));
};

const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (value instanceof Date)
    return value
      .toISOString()
      .replace(/T00:00:00\.000Z$|\.000Z$/, '')
      .replace('T', ' ');
  return String(value).replace(/[\n\r\t]+/g, ' ');
};
