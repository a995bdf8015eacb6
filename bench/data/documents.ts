import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../../src/sandbox/child.ts';
import type { JobName } from '../../src/sandbox/jobs.ts';
import { textPdf } from '../../tests/harness/documents.ts';
import { form } from '../../tests/harness/form.ts';
import { body, type Figure, medianMs, ms, type Rig, waitFigure, waitsDuring } from './rig.ts';

const pages = 10;

const document = textPdf(
  ...Array.from({ length: pages }, (_, page) =>
    page === 0
      ? ['Invoice number: 2026-0117', 'Date: 17 January 2026', 'Total: 1.234,50 EUR']
      : Array.from(
          { length: 35 },
          (_, line) => `Page ${page + 1}, line ${line + 1}: what was delivered in the night`,
        ),
  ),
);
const schema = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, date: { type: 'string' }, total: { type: 'number' } },
};

/**
 * How long a process of the sandbox takes from nothing until its library is loaded: only then does it reply that there
 * is no such job.
 */
const measureStart = async (library: 'duckdb' | 'documents'): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-bench-'));
  try {
    return await medianMs(5, async () => {
      const child = await Child.start(library, folder);
      await child.run('nothing' as JobName, null, 10_000).catch(() => {});
      await child.end();
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** A PDF of ten pages with text, read, extracted from with the mock model, and grounded. */
export const measureDocuments = async (rig: Rig): Promise<Figure[]> => {
  const sent = form([
    { name: 'schema', content: JSON.stringify(schema) },
    { name: 'file', filename: 'invoice.pdf', content: document },
  ]);
  const extract = async () => {
    const { status, data } = await body(
      rig.api.raw('POST', '/document-intelligence/extract', sent.body, { headers: sent.headers }),
    );
    if (status !== 'COMPLETED' || data.total !== 1234.5) throw new Error(JSON.stringify(data));
  };
  const extractMs = await medianMs(5, extract);
  const waits = await waitsDuring(rig, () => Promise.all([extract(), extract(), extract()]));
  return [
    { what: `extract from a PDF of ${pages} pages (mock)`, goal: '1 s', here: ms(extractMs), bare: '' },
    {
      what: 'start and end a process of the sandbox',
      goal: '300 ms',
      here: `DuckDB ${ms(await measureStart('duckdb'))}, documents ${ms(await measureStart('documents'))}`,
      bare: '',
    },
    waitFigure('3 documents at once', waits),
  ];
};
