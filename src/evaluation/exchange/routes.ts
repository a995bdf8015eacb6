import { z } from 'zod';
import { audit } from '../../audit/index.ts';
import type { Database } from '../../database/index.ts';
import { jsonRoute, optional, type Route, streamRoute, text } from '../../http/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { shownInput } from '../cases/cases.ts';
import { shownTape } from '../cases/schemas.ts';
import { type Case, listWholeCases } from '../cases/store.ts';
import { datasetFinder, shared } from '../datasets/routes.ts';
import type { Dataset } from '../datasets/store.ts';
import { importCases, readImport } from './import.ts';
import { exportedFields } from './jsonl.ts';
import { formats } from './reading.ts';

const importBody = z
  .object({
    content: z.string().min(1).describe('The text of the file: at most 10 MB and 5,000 cases.'),
    format: optional(z.enum(['auto', ...formats]), 'auto' as const),
    message_field: optional(text(200, 1)).describe(
      'The key of the message. Default: the first of `input`, `question`, `prompt` and `message`.',
    ),
    expected_field: optional(text(200, 1)).describe(
      'The key of what is expected. Default: the first of `ideal`, `expected`, `answer`, `reference` and `ground_truth`.',
    ),
    dry_run: optional(z.boolean(), false).describe('Only checks the file, and counts.'),
  })
  .meta({ id: 'ImportCasesBody' });

const importResult = z
  .object({
    format: z.enum(formats),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    warnings: z
      .array(z.object({ line: z.int(), message: z.string() }))
      .describe('What of the file is left out, by its lines. The first 1,000.'),
  })
  .meta({ id: 'ImportedCases' });

/** Cases that one statement reads. */
const chunk = 50;

const lineOf = ({ mode }: Dataset, one: Case): string => {
  const whole = { ...one, input: shownInput(mode, one.input), tape: one.tape && shownTape.parse(one.tape) };
  return `${JSON.stringify(Object.fromEntries(exportedFields.map((name) => [name, whole[name]])))}\n`;
};

/** The cases as lines of JSON in the order in which they were made. No transaction is open between two reads. */
async function* exportLines(db: Database, dataset: Dataset): AsyncGenerator<string> {
  let after: string | null = null;
  for (;;) {
    const cases: Case[] = await db.run((executor) =>
      listWholeCases(executor, dataset.id, { after, limit: chunk }),
    );
    if (cases.length > 0) yield cases.map((one) => lineOf(dataset, one)).join('');
    if (cases.length < chunk) return;
    after = cases.at(-1)!.id;
  }
}

/** Cases as files. */
export const exchangeRoutes = ({ db, vault }: { db: Database; vault: Vault }): Route[] => {
  const find = datasetFinder(db);
  return [
    jsonRoute({
      ...shared,
      id: 'importCases',
      scope: 'evaluations',
      request: 'POST /datasets/{dataset_id}/import',
      summary: 'Import cases',
      description:
        'Matched by name: what a case of the file leaves out stays. All or nothing: every fault is a 422 with the line.',
      otherStatuses: [400],
      find,
      body: importBody,
      response: importResult,
      idempotent: true,
      handler: async ({ found, body, transaction, actor }) => {
        // Its faults come after those of an `Idempotency-Key`, which the transaction finds.
        const reading = readImport(found.mode, body);
        await reading.catch(() => {});
        return transaction(async (tx) =>
          importCases(tx, { vault, actor, datasetId: found.id, dryRun: body.dry_run }, await reading),
        );
      },
    }),
    streamRoute({
      ...shared,
      id: 'exportCases',
      scope: 'evaluations:read',
      request: 'GET /datasets/{dataset_id}/export',
      summary: 'Export the cases of a dataset',
      description:
        'One case a line, which an import reads. Copies of files and data frames, and what providers gave with their replies, stay behind.',
      find,
      type: 'application/x-ndjson',
      saveAs: 'cases.jsonl',
      handler: async ({ found, actor, transaction }) => {
        await transaction((tx) =>
          audit(tx, actor, 'dataset.export', found.id, { name: found.name, cases: found.case_count }),
        );
        return exportLines(db, found);
      },
    }),
  ];
};
