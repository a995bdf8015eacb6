import { readFile } from 'node:fs/promises';
import { actingRoot } from '../../lib/acting-for.ts';
import { type Egress, EgressError } from '../../lib/egress.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { type Page, Reading, type Sandbox } from '../../sandbox/index.ts';
import type { ReaderSettings } from '../configuration/settings.ts';
import { azureReader } from './azure.ts';
import { doclingReader } from './docling.ts';
import { jobOptions, type ReadDocument, type ReadRequest, readEmbedded, textLeftOut } from './embedded.ts';
import { httpReader } from './http.ts';
import { type Reader, ReaderFailure } from './reader.ts';

export type { ReadDocument } from './embedded.ts';
export { kindOf } from './kinds.ts';
export { ReaderFailure } from './reader.ts';

/** The reader of a provider, which throws ReaderFailure for whatever goes wrong; null for the built-in one. */
export const readerOf = (egress: Egress, settings: ReaderSettings): Reader | null => {
  const reader = plainReader(egress, settings);
  return (
    reader &&
    (async (document, signal) => {
      try {
        return await reader(document, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof EgressError
          ? new ReaderFailure(`the reader cannot be used: ${error.message}`)
          : error;
      }
    })
  );
};

const plainReader = (egress: Egress, settings: ReaderSettings): Reader | null => {
  switch (settings.provider) {
    case 'embedded':
      return null;
    case 'azure':
      return azureReader(egress, settings);
    case 'docling':
      return doclingReader(egress, settings);
    case 'http':
      return httpReader(egress, settings);
  }
};

export interface DocumentToRead extends ReadRequest {
  contentType: string;
  name: string;
  settings: ReaderSettings;
}

/** Azure takes no WebP (its documents: JPEG, PNG, BMP, TIFF, HEIF). */
const takes = ({ kind, contentType, settings }: DocumentToRead): boolean =>
  kind === 'pdf' || (kind === 'picture' && !(settings.provider === 'azure' && contentType === 'image/webp'));

/** Documents that a replica sends to a provider at once; others wait, divided fairly between those who read. */
const sentAtOnce = 8;
const elsewhere = new FairQueue(() => sentAtOnce, 'Too many documents are being read.');

/**
 * Reads a document by the configured provider. Providers get PDFs and pictures; the rest is read here. The pages of a
 * PDF are counted first, so that one that is encrypted or too long is not sent. Throws SandboxFailure or ReaderFailure.
 */
export const readDocument = async (
  { sandbox, egress }: { sandbox: Sandbox; egress: Egress },
  document: DocumentToRead,
): Promise<ReadDocument> => {
  const { kind, path, contentType, name, ranges, maxPages, maxCharacters, signal } = document;
  const reader = readerOf(egress, document.settings);
  if (!reader || !takes(document)) return readEmbedded(sandbox, document);
  const counted =
    kind === 'pdf'
      ? await sandbox.run(
          'documentRead',
          { type: kind, ranges, maxPages, maxCharacters, countOnly: true },
          jobOptions(document),
        )
      : { total: 1, asked: [1] };
  const found = await elsewhere.run(await actingRoot(), { waitMs: null, signal }, async () => {
    document.onStart();
    const bytes = await readFile(path);
    return reader({ bytes, contentType, name, pages: ranges && counted.asked }, signal);
  });
  return within(found, { ...counted, maxCharacters });
};

/** The pages asked for, each once and in order, with as much text as one extraction reads. */
const within = (
  found: readonly Page[],
  { total, asked, maxCharacters }: { total: number; asked: number[]; maxCharacters: number },
): ReadDocument => {
  const byNumber = new Map(found.map((page) => [page.page, page]));
  const reading = new Reading(total, asked, maxCharacters);
  for (const number of asked) {
    const page = byNumber.get(number) ?? { page: number, lines: [] };
    if (!reading.isFull) reading.add(page);
  }
  const { pages, cut } = reading.result;
  return { pages, total, warnings: cut ? [textLeftOut] : [] };
};
