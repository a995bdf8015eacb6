import { createCanvas } from '@napi-rs/canvas';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Ocr } from './documents/ocr.ts';
import type { Page } from './documents/page.ts';
import { openPdf } from './documents/pdf.ts';

export interface ScanOcrInput {
  languages: string[];
  /** The pages to read, from 1. */
  pages: number[];
}

const dotsPerInch = 200;
const maxSide = 3_000;

const readScan = async (ocr: Ocr, document: PDFDocumentProxy, number: number): Promise<Page> => {
  const page = await document.getPage(number);
  const points = page.getViewport({ scale: 1 });
  const scale = Math.min(dotsPerInch / 72, maxSide / Math.max(points.width, points.height));
  const viewport = page.getViewport({ scale });
  const size = { width: Math.ceil(viewport.width), height: Math.ceil(viewport.height) };
  const canvas = createCanvas(size.width, size.height);
  const aspect = points.width / points.height;
  try {
    await page.render({ canvas: canvas, viewport }).promise;
    return { page: number, lines: await ocr.read(canvas.toBuffer('image/png'), size), aspect };
  } catch {
    return { page: number, lines: [], aspect };
  } finally {
    page.cleanup();
  }
};

/** Renders pages of the PDF `source` and reads them. A page that cannot be rendered is empty. */
export const scanOcr = async ({ languages, pages }: ScanOcrInput): Promise<Page[]> => {
  const ocr = await Ocr.open(languages);
  const document = await openPdf('source');
  const read: Page[] = [];
  for (const number of pages)
    read.push(await readScan(ocr, document, number).catch(() => ({ page: number, lines: [] })));
  return read;
};
