import { createReadStream } from 'node:fs';
import {
  type DocumentType,
  isOcrInstalled,
  type Page,
  type RunOptions,
  type Sandbox,
} from '../../sandbox/index.ts';
import type { DocumentKind } from './kinds.ts';

/** Something about the reading that matters for the result. */
interface ReadWarning {
  code: 'ocr_off' | 'ocr_unavailable' | 'pages_left_out' | 'text_left_out';
  message: string;
}

export interface ReadDocument {
  pages: Page[];
  /** Pages of the whole document. */
  total: number;
  warnings: ReadWarning[];
}

export interface ReadRequest {
  /** The file, on this machine. */
  path: string;
  kind: DocumentKind;
  /** The pages asked for, from 1; null for all. */
  ranges: [from: number, to: number][] | null;
  maxPages: number;
  maxCharacters: number;
  ocr: 'auto' | 'off';
  languages: string[];
  /** Called when a process is free and the work begins. */
  onStart: () => void;
  signal: AbortSignal;
}

const maxOcrPages = 20;
const seconds = 300;

/** The options of a job that reads the file. It waits for a free process as long as it takes. */
export const jobOptions = ({ path, onStart, signal }: ReadRequest): RunOptions => ({
  files: {
    source: (async function* () {
      // The file is asked for when the process is there.
      onStart();
      yield* createReadStream(path) as AsyncIterable<Buffer>;
    })(),
  },
  limits: { seconds, waitForever: true },
  signal,
});

/** Reads a document on this machine, in child processes. Throws SandboxFailure. */
export const readEmbedded = async (sandbox: Sandbox, request: ReadRequest): Promise<ReadDocument> =>
  request.kind === 'picture' ? readPicture(sandbox, request) : readPages(sandbox, request, request.kind);

export const textLeftOut: ReadWarning = {
  code: 'text_left_out',
  message: 'The document has more text than one extraction reads.',
};

const leftOut = (message: string): ReadWarning => ({ code: 'pages_left_out', message });

/** Returns the reason that OCR is not used; null if it is. */
const noOcr = ({ ocr }: ReadRequest): ReadWarning | null => {
  if (ocr === 'off') {
    return {
      code: 'ocr_off',
      message: 'Pages without text were read as empty, because OCR is switched off.',
    };
  }
  if (isOcrInstalled()) return null;
  return {
    code: 'ocr_unavailable',
    message: 'Pages without text were read as empty, because OCR is not installed.',
  };
};

const readPicture = async (sandbox: Sandbox, request: ReadRequest): Promise<ReadDocument> => {
  const isAsked = request.ranges === null || request.ranges.some(([from]) => from === 1);
  if (!isAsked) return { pages: [], total: 1, warnings: [] };
  const without = noOcr(request);
  if (without) return { pages: [{ page: 1, lines: [] }], total: 1, warnings: [without] };
  const { languages } = request;
  const { page, pictures } = await sandbox.run('pictureOcr', { languages }, jobOptions(request));
  const warnings = pictures > 1 ? [leftOut('Only the first picture of the file was read.')] : [];
  return { pages: [page], total: pictures, warnings };
};

const readPages = async (
  sandbox: Sandbox,
  request: ReadRequest,
  type: DocumentType,
): Promise<ReadDocument> => {
  const { ranges, maxPages, maxCharacters, languages } = request;
  const read = await sandbox.run(
    'documentRead',
    { type, ranges, maxPages, maxCharacters },
    jobOptions(request),
  );
  const { pages, total, without_text: empty, cut } = read;
  const warnings = cut ? [textLeftOut] : [];
  if (empty.length === 0) return { pages, total, warnings };
  const without = noOcr(request);
  if (without) return { pages, total, warnings: [...warnings, without] };
  if (empty.length > maxOcrPages) {
    warnings.push(leftOut(`Only the first ${maxOcrPages} of ${empty.length} pages without text were read.`));
  }
  const scanned = await sandbox.run(
    'scanOcr',
    { languages, pages: empty.slice(0, maxOcrPages) },
    jobOptions(request),
  );
  const byNumber = new Map(scanned.map((page) => [page.page, page]));
  return { pages: pages.map((page) => byNumber.get(page.page) ?? page), total, warnings };
};
