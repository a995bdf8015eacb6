import { audit } from '../../audit/index.ts';
import type { Executor, Tx } from '../../database/index.ts';
import { sha256, type Vault } from '../../lib/crypto.ts';
import { badRequest, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import { numberedName } from '../../lib/text.ts';
import { readSettings, type Settings } from '../../settings/index.ts';
import { lockDataset, lockJudgeLlms } from '../datasets/datasets.ts';
import { type Dataset, type DatasetMode, updateDatasetForCases } from '../datasets/store.ts';
import type { CaseContent, CaseInput, Tape } from './content.ts';
import { type CaseChanges, modeFaults, type WrittenCase } from './schemas.ts';
import {
  type Case,
  type CaseSource,
  type CaseThings,
  type CaseValues,
  deleteCaseRow,
  findCase,
  findCaseIdByName,
  insertCases,
  type ListedCase,
  listThings,
  openReplies,
  updateCases,
} from './store.ts';
import { transcriptOf } from './transcript.ts';

/** The input as it is shown: without what the mode of the dataset has not. */
export const shownInput = (mode: DatasetMode, { message, payload, history }: CaseInput) =>
  mode === 'worker' ? { message, payload } : { message, history };

/** The name of a case that was given none: equal for equal inputs. */
const defaultName = (mode: DatasetMode, input: CaseInput): string =>
  `case-${sha256(rfc8785(shownInput(mode, input))).slice(0, 12)}`;

/** Room for a number, in a name of at most 200 characters. */
const numberedCharacters = 190;

/** The name, or the first of `name-2`, `name-3` … that is not taken. */
export const freeCaseName = (name: string, isTaken: (name: string) => boolean): string =>
  numberedName(name, isTaken, numberedCharacters);

const hashOf = (tape: Tape | null): string | null => tape && sha256(transcriptOf(tape.messages));

/** The stored values of a case that was written by hand or imported. Throws 422 if its input is not for the mode. */
export const writtenValues = (mode: DatasetMode, given: WrittenCase): CaseValues => {
  const faults = modeFaults(mode, given.input);
  if (faults.length > 0) throw unprocessable(faults);
  const { input, expected, tags, graders, enabled } = given;
  const tape = given.tape && { ...given.tape, continuations: given.tape.continuations ?? [] };
  return {
    name: given.name ?? defaultName(mode, input),
    input,
    expected,
    tags,
    graders,
    enabled,
    tape,
    made: [],
    replies: [],
    transcript_hash: hashOf(tape),
  };
};

/** The values of a new case with a tape. */
export const recordedValues = (values: Omit<CaseValues, 'transcript_hash'>): CaseValues => ({
  ...values,
  transcript_hash: hashOf(values.tape),
});

/** Returns the stored replies and data frames for the parts of the tape that did not change. */
const keptOf = (vault: Vault, before: Case, tape: Tape | null): Pick<CaseContent, 'made' | 'replies'> => {
  const isReply = ({ role }: Tape['messages'][number]) => role === 'assistant';
  const [old, now] = [before.tape, tape].map((one) => one?.messages.filter(isReply) ?? []) as [
    Tape['messages'],
    Tape['messages'],
  ];
  const opened = openReplies(vault, before);
  const ids = new Set(
    now.flatMap(({ content }) => content.map((part) => 'tool_call_id' in part && part.tool_call_id)),
  );
  return {
    made: before.made.filter(({ tool_call_id }) => ids.has(tool_call_id)),
    replies: now.map((reply, i) =>
      old[i] && rfc8785(reply) === rfc8785(old[i]) ? (opened[i] ?? null) : null,
    ),
  };
};

/** The values of a case after changes; null in `tape`: none. */
export const changedValues = (vault: Vault, before: Case, changes: CaseChanges): CaseValues => {
  const { input = {}, tape: given } = changes;
  const continuations = () =>
    before.tape?.continuations.filter(({ after }) => after <= (given?.messages.length ?? 0)) ?? [];
  const tape =
    given === undefined
      ? before.tape
      : given && { ...given, continuations: given.continuations ?? continuations() };
  return {
    name: changes.name ?? before.name,
    input: {
      message: input.message ?? before.input.message,
      payload: input.payload === undefined ? before.input.payload : (input.payload ?? {}),
      history: input.history === undefined ? before.input.history : (input.history ?? []),
    },
    expected: changes.expected === undefined ? before.expected : changes.expected,
    tags: changes.tags === undefined ? before.tags : (changes.tags ?? []),
    graders: changes.graders === undefined ? before.graders : (changes.graders ?? []),
    enabled: changes.enabled ?? before.enabled,
    tape,
    ...keptOf(vault, before, tape),
    transcript_hash: hashOf(tape),
  };
};

/** Throws 400 for a case that is too large; `the` begins the message. */
export const checkCaseSize = (
  { MAX_CASE_SIZE_IN_KB: most }: Pick<Settings, 'MAX_CASE_SIZE_IN_KB'>,
  values: CaseValues,
  the = 'The',
): void => {
  const size = Buffer.byteLength(JSON.stringify(values));
  if (size <= most * 1_024) return;
  throw badRequest(
    `${the} case has ${Math.ceil(size / 1_024).toLocaleString('en')} KB; the maximum is ${most.toLocaleString('en')}.`,
    { setting: 'MAX_CASE_SIZE_IN_KB' },
  );
};

/** Throws 400 if the locked dataset cannot have `added` cases more. */
export const checkCaseCount = (
  { MAX_CASES_PER_DATASET: most }: Pick<Settings, 'MAX_CASES_PER_DATASET'>,
  { case_count }: Dataset,
  added = 1,
): void => {
  if (case_count + added <= most) return;
  throw badRequest(
    `The dataset has ${case_count} cases, and the maximum is ${most}. Delete some first, or make another dataset.`,
    { setting: 'MAX_CASES_PER_DATASET' },
  );
};

const nameTaken = (): Error =>
  unprocessable([{ path: 'name', message: 'belongs to another case of this dataset; give another one' }]);

const audited = ({ name, dataset_id }: Pick<ListedCase, 'name' | 'dataset_id'>) => ({ name, dataset_id });

/** Adds a case to the locked dataset. Throws 400 and 422. */
export const createCase = async (
  tx: Tx,
  vault: Vault,
  actor: Actor,
  dataset: Dataset,
  values: CaseValues,
  { id = newId(), source = null }: { id?: string; source?: CaseSource | null } = {},
): Promise<Case> => {
  const settings = await readSettings(tx);
  checkCaseCount(settings, dataset);
  checkCaseSize(settings, values);
  await lockJudgeLlms(tx, values.graders);
  if ((await findCaseIdByName(tx, dataset.id, values.name)) !== undefined) throw nameTaken();
  await insertCases(tx, vault, dataset.id, [{ id, source, values }]);
  await updateDatasetForCases(tx, dataset.id, 1);
  const created = (await findCase(tx, dataset.id, id))!;
  const { agent_id: _, agent_version: __, status: ___, error: ____, ...from } = source ?? ({} as CaseSource);
  await audit(tx, actor, 'case.create', id, { ...audited(created), ...from });
  return created;
};

/** Returns the case, its dataset locked until the transaction ends. Throws 404 if either is gone. */
export const lockCase = async (
  tx: Tx,
  datasetId: string,
  id: string,
): Promise<Case & { dataset: Dataset }> => {
  const dataset = await lockDataset(tx, datasetId);
  const found = isId(id) ? await findCase(tx, datasetId, id) : undefined;
  if (!found) throw notFound('case');
  return { ...found, dataset };
};

/** Locks as `lockCase`. Throws 422 for changes that the case cannot have. */
export const lockCaseToUpdate = async (tx: Tx, datasetId: string, id: string, changes: CaseChanges) => {
  const before = await lockCase(tx, datasetId, id);
  const faults = modeFaults(before.dataset.mode, changes.input ?? {});
  if (faults.length > 0) throw unprocessable(faults);
  await lockJudgeLlms(tx, changes.graders ?? undefined);
  if (changes.name !== undefined && changes.name !== before.name) {
    if ((await findCaseIdByName(tx, datasetId, changes.name)) !== undefined) throw nameTaken();
  }
  return before;
};

/** Makes the next revision of the case that `lockCaseToUpdate` returned. */
export const updateCase = async (
  tx: Tx,
  vault: Vault,
  actor: Actor,
  before: Case,
  changes: CaseChanges,
): Promise<Case> => {
  const values = changedValues(vault, before, changes);
  checkCaseSize(await readSettings(tx), values);
  await updateCases(tx, vault, [{ before, values }]);
  await updateDatasetForCases(tx, before.dataset_id, 0);
  const after = (await findCase(tx, before.dataset_id, before.id))!;
  const changed = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  await audit(tx, actor, 'case.update', before.id, { ...audited(after), changed });
  return after;
};

/** Deletes the case that `lockCase` returned. Experiments keep the revision that they run. */
export const deleteCase = async (tx: Tx, actor: Actor, found: Case): Promise<void> => {
  await deleteCaseRow(tx, found.id);
  await updateDatasetForCases(tx, found.dataset_id, -1);
  await audit(tx, actor, 'case.delete', found.id, audited(found));
};

/** The case as clients see it. */
export const toShown = <C extends ListedCase>(mode: DatasetMode, one: C, things: CaseThings) => ({
  ...one,
  input: shownInput(mode, one.input),
  files: things.files.filter(({ case_id }) => case_id === one.id),
  data_frames: things.data_frames.filter(({ case_id }) => case_id === one.id),
});

export const toResponse = async (executor: Executor, mode: DatasetMode, one: Case) =>
  toShown(mode, one, await listThings(executor, [one.id]));
