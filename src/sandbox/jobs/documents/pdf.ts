import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { JobFault } from '../fault.ts';
import type { Line, Page } from './page.ts';
import { linesOfRuns, type TextRun } from './pdf-lines.ts';

const library = dirname(
  dirname(dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/legacy/build/pdf.mjs')))),
);
/** A picture with more pixels than this is not painted. */
const maxPicturePixels = 100_000_000;

/** Opens the PDF `source`. Throws `encrypted` if it needs a password, and `unreadable`. */
export const openPdf = async (source: string): Promise<PDFDocumentProxy> => {
  try {
    return await getDocument({
      data: new Uint8Array(readFileSync(source)),
      cMapUrl: `${join(library, 'cmaps')}/`,
      cMapPacked: true,
      standardFontDataUrl: `${join(library, 'standard_fonts')}/`,
      wasmUrl: `${join(library, 'wasm')}/`,
      iccUrl: `${join(library, 'iccs')}/`,
      disableFontFace: true,
      useSystemFonts: false,
      isEvalSupported: false,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      useWorkerFetch: false,
      enableXfa: false,
      maxImageSize: maxPicturePixels,
      verbosity: 0,
    } as Parameters<typeof getDocument>[0]).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException')
      throw new JobFault('encrypted', 'the PDF has a password');
    throw new JobFault('unreadable', 'the file is not a PDF that can be read');
  }
};

/** The lines of the text layer and the form fields of a page. Boxes are those of the page as it is shown. */
export const readPdfPage = async (page: PDFPageProxy, number: number): Promise<Page> => {
  const { width, height } = page.getViewport({ scale: 1 });
  const runs = await runsOf(page);
  const lines = linesOfRuns(runs, { width, height });
  const fields = await fieldsOf(page);
  page.cleanup();
  return { page: number, lines: [...lines, ...fields], aspect: width / height };
};

const runsOf = async (page: PDFPageProxy): Promise<TextRun[]> => {
  const viewport = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent();
  return items.flatMap((item): TextRun[] => {
    if (!('str' in item) || item.str.trim() === '') return [];
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = item.transform as number[];
    // Along the line of text, and from its foot to its top.
    const along = Math.hypot(a, b) || 1;
    const up = Math.hypot(c, d) || 1;
    const [dx, dy] = [(a / along) * item.width, (b / along) * item.width];
    const [ux, uy] = [(c / up) * item.height, (d / up) * item.height];
    // Letters such as g reach below the line.
    const [fx, fy] = [x - ux * 0.2, y - uy * 0.2];
    const corners = [
      [fx, fy],
      [fx + dx, fy + dy],
      [fx + ux, fy + uy],
      [fx + dx + ux, fy + dy + uy],
    ].map(([px, py]) => viewport.convertToViewportPoint(px!, py!) as number[]);
    return [{ text: item.str.replace(/[\n\r]+/g, ' '), ...around(corners) }];
  });
};

const around = (corners: number[][]): Omit<TextRun, 'text'> => {
  const xs = corners.map(([x]) => x!);
  const ys = corners.map(([, y]) => y!);
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
};

interface Field {
  subtype?: string;
  fieldName?: string;
  alternativeText?: string;
  fieldValue?: unknown;
  buttonValue?: unknown;
  exportValue?: unknown;
  checkBox?: boolean;
  radioButton?: boolean;
  pushButton?: boolean;
  rect?: number[];
}

/** Returns the text that people see in a field: `Yes` and `No` for a box to tick; null for a field without a value. */
const shownValue = (field: Field): string | null => {
  const { fieldValue } = field;
  if (field.pushButton) return null;
  if (field.checkBox)
    return fieldValue === undefined || fieldValue === null || fieldValue === 'Off' ? 'No' : 'Yes';
  if (field.radioButton) return fieldValue === field.buttonValue ? String(fieldValue) : null;
  const text = Array.isArray(fieldValue) ? fieldValue.join(', ') : fieldValue;
  return typeof text === 'string' && text.trim() !== '' ? text.replace(/\s+/g, ' ').trim() : null;
};

/** A line `name: value` for each field of a form that is filled in. */
const fieldsOf = async (page: PDFPageProxy): Promise<Line[]> => {
  const viewport = page.getViewport({ scale: 1 });
  const annotations = (await page.getAnnotations()) as Field[];
  return annotations.flatMap((field): Line[] => {
    if (field.subtype !== 'Widget' || !field.rect) return [];
    const value = shownValue(field);
    if (value === null) return [];
    const name = (field.alternativeText || field.fieldName || '').replace(/\s+/g, ' ').trim();
    const [left = 0, bottom = 0, right = 0, top = 0] = field.rect;
    const box = around(
      [
        [left, bottom],
        [right, top],
      ].map(([x, y]) => viewport.convertToViewportPoint(x!, y!) as number[]),
    );
    const bbox = {
      left: box.left / viewport.width,
      top: box.top / viewport.height,
      width: (box.right - box.left) / viewport.width,
      height: (box.bottom - box.top) / viewport.height,
    };
    return [{ text: name === '' ? value : `${name}: ${value}`, bbox }];
  });
};
