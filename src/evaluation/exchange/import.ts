import { setImmediate } from 'node:timers/promises';
import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { validate } from '../../http/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { ApiError, type Fault, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import { mostFaults } from '../../lib/text.ts';
import { readSettings } from '../../settings/index.ts';
import { changedValues, checkCaseCount, checkCaseSize, freeCaseName, writtenValues } from '../cases/cases.ts';
import { type CaseChanges, importedCase, type WrittenCase } from '../cases/schemas.ts';
import { type Case, type CaseValues, insertCases, listCasesByName, updateCases } from '../cases/store.ts';
import { lockDataset, lockJudgeLlms } from '../datasets/datasets.ts';
import { type DatasetMode, updateDatasetForCases } from '../datasets/store.ts';
import { formatOf, readFile } from './formats.ts';
import type { Format, Note, ReadCase } from './reading.ts';

const mostCases = 5_000;
const mostWarnings = 1_000;
/** Cases that are checked without a pause: others wait for some milliseconds at most. */
const atOnce = 100;

export interface ImportBody {
  content: string;
  format: Format | 'auto';
  message_field?: string | undefined;
  expected_field?: string | undefined;
  dry_run: boolean;
}

/** A case of the file, checked. */
interface Checked {
  line: number;
  values: CaseValues;
  given: WrittenCase;
  /** The names of the fields that the file has; the others stay in an update. */
  fields: ReadonlySet<string>;
}

const faultsOf = (error: unknown, line: number): Note[] => {
  if (!(error instanceof ApiError) || !Array.isArray(error.context.details)) throw error;
  const details = error.context.details as Fault[];
  return details.map(({ path, message }) => ({ line, message: `${path}: ${message}` }));
};

const checkCase = (mode: DatasetMode, { line, fields }: ReadCase): Checked | Note[] => {
  try {
    const given = validate(importedCase, fields, 'body');
    const has = new Set(Object.keys(fields).filter((key) => fields[key] !== undefined));
    return { line, values: writtenValues(mode, given), given, fields: has };
  } catch (error) {
    return faultsOf(error, line);
  }
};

const contentOf = ({ input, expected, tags, graders, enabled, tape }: CaseValues | Case): string =>
  rfc8785({ input, expected, tags, graders, enabled, tape });

/**
 * Gives each case a name of its own. In a file of cases a second one of a name is a fault. Other products have no names
 * that are unique: there it gets `-2`, unless it is the same case again.
 */
const nameAll = (
  format: Format,
  cases: readonly Checked[],
): { named: Checked[]; faults: Note[]; warnings: Note[] } => {
  const firsts = new Map<string, Checked>();
  const faults: Note[] = [];
  const warnings: Note[] = [];
  for (const one of cases) {
    const { name } = one.values;
    const same = firsts.get(name);
    if (!same) {
      firsts.set(name, one);
      continue;
    }
    if (contentOf(same.values) === contentOf(one.values)) {
      warnings.push({ line: one.line, message: `is the same as line ${same.line} and is left out` });
    } else if (format === 'jsonl') {
      faults.push({ line: one.line, message: `name: is that of line ${same.line}` });
    } else {
      const free = freeCaseName(name, (other) => firsts.has(other));
      firsts.set(free, { ...one, values: { ...one.values, name: free } });
    }
  }
  return { named: [...firsts.values()], faults, warnings };
};

/** Throws 422 with the faults by line, the first 100. */
const throwFaults = (faults: readonly Note[]): void => {
  if (faults.length === 0) return;
  const sorted = [...faults].sort((a, b) => a.line - b.line).slice(0, mostFaults);
  throw unprocessable(sorted.map(({ line, message }) => ({ path: `line ${line}`, message })));
};

const shownWarnings = (warnings: readonly Note[]): Note[] => {
  const sorted = [...warnings].sort((a, b) => a.line - b.line);
  const [first, rest] = [sorted.slice(0, mostWarnings), sorted.slice(mostWarnings)];
  if (rest.length === 0) return first;
  return [...first, { line: rest[0]!.line, message: `and ${rest.length.toLocaleString('en')} more` }];
};

/** The fields that the file has, as changes of a case that is there. */
const changesOf = ({ given, fields }: Checked): CaseChanges =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'name' && fields.has(name)));

/** Reads and checks a file before the transaction: nothing of the dataset but its mode matters for that. */
export const readImport = async (
  mode: DatasetMode,
  { content: given, format: wanted, message_field, expected_field }: ImportBody,
) => {
  const content = given.replace(/^\uFEFF/, '');
  if (content.trim() === '') throw unprocessable([{ path: 'content', message: 'is empty' }]);
  const format = wanted === 'auto' ? formatOf(content) : wanted;
  const options = { mode, messageField: message_field, expectedField: expected_field };
  const file = await readFile(content, format, options);
  if (file.cases.length > mostCases) {
    const message = `has ${file.cases.length.toLocaleString('en')} cases; at most 5,000 are imported at once`;
    throw unprocessable([{ path: 'content', message }]);
  }
  const checked: Checked[] = [];
  const faults = [...file.faults];
  for (const [i, one] of file.cases.entries()) {
    if (i % atOnce === atOnce - 1) await setImmediate();
    const result = checkCase(mode, one);
    if (Array.isArray(result)) faults.push(...result);
    else checked.push(result);
  }
  const named = nameAll(format, checked);
  throwFaults([...faults, ...named.faults]);
  return { format, cases: named.named, warnings: shownWarnings([...file.warnings, ...named.warnings]) };
};

type ReadImport = Awaited<ReturnType<typeof readImport>>;

const checkInDataset = async (tx: Tx, { cases }: ReadImport): Promise<void> => {
  const settings = await readSettings(tx);
  const faults: Note[] = [];
  const known = new Set<string>();
  for (const { line, values } of cases) {
    checkCaseSize(settings, values, `Line ${line}: the`);
    const graders = values.graders.filter((one) => one.type !== 'llm_judge' || !known.has(one.llm_id ?? ''));
    await lockJudgeLlms(tx, graders).catch((error: unknown) => faults.push(...faultsOf(error, line)));
    for (const one of graders) if (one.type === 'llm_judge' && one.llm_id !== null) known.add(one.llm_id);
  }
  throwFaults(faults);
};

/** Stores what `readImport` returned, all or nothing; with `dry_run` it only counts. Throws 400, 404 and 422. */
export const importCases = async (
  tx: Tx,
  { vault, actor, datasetId, dryRun }: { vault: Vault; actor: Actor; datasetId: string; dryRun: boolean },
  read: ReadImport,
) => {
  const dataset = await lockDataset(tx, datasetId);
  await checkInDataset(tx, read);
  const names = read.cases.map(({ values }) => values.name);
  const existing = new Map((await listCasesByName(tx, datasetId, names)).map((one) => [one.name, one]));
  const added = read.cases.filter(({ values }) => !existing.has(values.name));
  checkCaseCount(await readSettings(tx), dataset, added.length);
  const updates: { before: Case; values: CaseValues }[] = [];
  for (const one of read.cases) {
    const before = existing.get(one.values.name);
    if (!before) continue;
    const values = changedValues(vault, before, changesOf(one));
    if (contentOf(values) !== contentOf(before)) updates.push({ before, values });
  }
  const updated = updates.length;
  const counts = { created: added.length, updated, unchanged: existing.size - updated };
  if (!dryRun && added.length + updated > 0) {
    await insertCases(
      tx,
      vault,
      datasetId,
      added.map(({ values }) => ({ id: newId(), source: null, values })),
    );
    await updateCases(tx, vault, updates);
    await updateDatasetForCases(tx, datasetId, added.length);
    await audit(tx, actor, 'dataset.import', datasetId, {
      name: dataset.name,
      format: read.format,
      ...counts,
    });
  }
  return { format: read.format, ...counts, warnings: read.warnings };
};
