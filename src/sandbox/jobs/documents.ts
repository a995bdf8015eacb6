import type { Page } from './documents/page.ts';
import { type DocumentRead, type DocumentReadInput, pagesAskedFor, Reading } from './documents/read.ts';
import { readText } from './documents/text.ts';
import { JobFault } from './fault.ts';

const source = 'source';

const readPdf = async (input: DocumentReadInput): Promise<DocumentRead> => {
  const { openPdf, readPdfPage } = await import('./documents/pdf.ts');
  const document = await openPdf(source);
  // A damaged file may claim a negative number of pages.
  if (document.numPages < 1) throw new JobFault('unreadable', 'the PDF has no pages');
  const asked = pagesAskedFor(document.numPages, input);
  const reading = new Reading(document.numPages, asked, input.maxCharacters);
  if (input.countOnly) return reading.result;
  let found = 0;
  for (const page of asked) {
    const opened = await document.getPage(page).catch(() => null);
    if (opened) found++;
    // A page that is damaged has no text; OCR may still read it.
    const read = (opened && (await readPdfPage(opened, page).catch(() => null))) ?? { page, lines: [] };
    if (read.lines.length === 0) reading.result.without_text.push(page);
    if (!reading.isFull) reading.add(read);
  }
  if (found === 0 && asked.length > 0) throw new JobFault('unreadable', 'the PDF does not have its pages');
  return reading.result;
};

/** Each library is loaded when a file needs it: together they take 300 ms. */
const readOther = async (type: Exclude<DocumentReadInput['type'], 'pdf'>): Promise<Page[]> => {
  if (type !== 'docx' && type !== 'xlsx') return [readText(source, type)];
  const { readDocx, readXlsx } = await import('./documents/office.ts');
  return type === 'xlsx' ? readXlsx(source) : [await readDocx(source)];
};

/** Reads the file `source` line by line. */
export const documentRead = async (input: DocumentReadInput): Promise<DocumentRead> => {
  if (input.type === 'pdf') return readPdf(input);
  const pages = await readOther(input.type);
  const asked = pagesAskedFor(pages.length, input);
  const reading = new Reading(pages.length, asked, input.maxCharacters);
  for (const page of asked) if (!reading.isFull) reading.add(pages[page - 1]!);
  return reading.result;
};
