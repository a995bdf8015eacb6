import { findRun, keepConversation, readRunRecording } from '../../conversations/index.ts';
import type { Database, Executor, Tx } from '../../database/index.ts';
import type { FileBytes, OwnerIds } from '../../files/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { ApiError, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import { isObject } from '../../lib/objects.ts';
import { type Actor, mayCall } from '../../lib/principal.ts';
import { textOf, textPart } from '../../messages/index.ts';
import type { RecordedMessage, Recording } from '../../runs/index.ts';
import { type ProviderParts, submitResultName } from '../../runtime/index.ts';
import { workItemCalls } from '../../work-items/index.ts';
import { lockDataset } from '../datasets/datasets.ts';
import type { DatasetMode } from '../datasets/store.ts';
import { createCase, freeCaseName, recordedValues } from './cases.ts';
import {
  type CaseContent,
  caseOwner,
  type MadeFrame,
  type RecordedReply,
  type TapeMessage,
} from './content.ts';
import { type Copies, type CopyParts, copyThings, dropCopies, insertCopies } from './copies.ts';
import { type Redaction, redactionOf, type SecretOwners } from './redaction.ts';
import type { CreateCaseBody } from './schemas.ts';
import { type Case, type CaseSource, type CaseValues, listNames } from './store.ts';

/** Source of a case: a Work Item or a run of a conversation. The fields are what differs between them. */
interface Source {
  field: 'work_item_id' | 'run_id';
  mode: DatasetMode;
  owner: OwnerIds;
  run: Omit<CaseSource, 'work_item_id' | 'run_id'> & { id: string };
  name: string | null;
  /** Null: it has ended neither well nor with an error. */
  finishedAt: Date | null;
  isCompleted: boolean;
  result: unknown;
  /** Keeps it from being deleted before the transaction ends; throws 404 if it is gone. */
  keep(tx: Tx): Promise<void>;
  /** Returns the record, with the input that began it. */
  read(executor: Executor): Promise<
    Recording & { history: TapeMessage[] } & Pick<CaseContent['input'], 'payload'> & {
        message: string | null;
      }
  >;
}

const workItemSource = async (executor: Executor, id: string): Promise<Source | undefined> => {
  const item = isId(id) ? await workItemCalls.find(executor, id) : undefined;
  return (
    item && {
      field: 'work_item_id',
      mode: 'worker',
      owner: { conversation_id: null, work_item_id: item.id },
      run: item,
      name: item.work_item_name,
      finishedAt: ['COMPLETED', 'ERROR'].includes(item.status) ? item.finished_at : null,
      isCompleted: item.status === 'COMPLETED',
      result: item.result,
      keep: (tx) => workItemCalls.keep(tx, item.id),
      read: async (executor) => ({
        ...(await workItemCalls.readRecording(executor, item)),
        history: [],
        message: item.message,
        payload: item.payload,
      }),
    }
  );
};

const runSource = async (executor: Executor, id: string): Promise<Source | undefined> => {
  const run = isId(id) ? await findRun(executor, id) : undefined;
  return (
    run && {
      field: 'run_id',
      mode: 'conversational',
      owner: { conversation_id: run.conversation_id, work_item_id: null },
      run,
      name: null,
      finishedAt: ['completed', 'error'].includes(run.status) ? run.finished_at : null,
      isCompleted: run.status === 'completed',
      result: run.answer,
      keep: (tx) => keepConversation(tx, run.conversation_id),
      read: async (executor) => ({ ...(await readRunRecording(executor, run)), message: null, payload: {} }),
    }
  );
};

const readScopes = { work_item_id: 'work_items:read', run_id: 'conversations:read' } as const;
const words = { work_item_id: 'a Work Item', run_id: 'a run of a conversation' };

/**
 * Returns the source that the body names. Throws 403 if the key may not read it, 422 if there is none or if it is not for
 * the mode of the dataset, and 412 unless it has ended.
 */
const findSource = async (
  executor: Executor,
  { work_item_id, run_id }: Pick<CreateCaseBody, 'work_item_id' | 'run_id'>,
  mode: DatasetMode,
  actor: Actor,
): Promise<Source> => {
  const field = work_item_id !== undefined ? 'work_item_id' : 'run_id';
  const scope = readScopes[field];
  if (!mayCall(actor.principal, 'member', scope)) {
    throw new ApiError('forbidden', `A case of ${words[field]} requires a key with the scope ${scope}.`);
  }
  const source = await (work_item_id !== undefined
    ? workItemSource(executor, work_item_id)
    : runSource(executor, run_id!));
  if (!source) throw unprocessable([{ path: field, message: `is not ${words[field]}` }]);
  if (source.mode !== mode) {
    const message = `is ${words[field]}, and the cases of this dataset are for ${mode} agents`;
    throw unprocessable([{ path: field, message }]);
  }
  if (source.finishedAt === null) {
    const { status } = source.run;
    const ends = field === 'work_item_id' ? 'COMPLETED or ERROR' : 'completed or error';
    throw new ApiError('precondition_failed', `It is ${status}. A case is made of one that is ${ends}.`, {
      status,
    });
  }
  return source;
};

const finishReasonOf = ({ content, ended_by }: RecordedMessage): string => {
  if (content.some(({ type }) => type === 'tool_call')) return 'tool-calls';
  if (ended_by === 'model_answer_filtered') return 'content-filter';
  return ended_by === 'model_answer_truncated' || ended_by === 'max_tokens' ? 'length' : 'stop';
};

const repliesOf = (
  messages: readonly RecordedMessage[],
  { isCompleted, result }: Source,
): RecordedReply[] => {
  const last = messages.at(-1);
  // A model that does not get the tool for its result gives it as JSON in its text.
  const isResultInText =
    isCompleted && isObject(result) && last?.role === 'assistant' && finishReasonOf(last) === 'stop';
  return messages
    .filter(({ role }) => role === 'assistant')
    .map((reply) => ({
      provider_parts: reply.provider_parts as ProviderParts | null,
      usage: reply.usage,
      finish_reason: finishReasonOf(reply),
      left_out: isResultInText ? [submitResultName] : [],
    }));
};

const keptFrame = /\bkept as the data frame ([a-z][a-z0-9_]{0,62}) with \d/;

/** The data frames that calls made, of those with these names. */
const madeBy = (messages: readonly TapeMessage[], names: ReadonlySet<string>): MadeFrame[] => {
  const calls = new Map(
    messages.flatMap(({ content }) =>
      content.flatMap((part) =>
        part.type === 'tool_call' ? [[part.tool_call_id, part.arguments] as const] : [],
      ),
    ),
  );
  return messages.flatMap(({ content }) =>
    content.flatMap((part) => {
      if (part.type !== 'tool_result' || part.is_error) return [];
      const args = part.executed_arguments ?? calls.get(part.tool_call_id);
      const { name, save_as } = isObject(args) ? args : ({} as Record<string, unknown>);
      const given = part.tool_name === 'make_data_frame' ? name : save_as;
      const frame = given ?? keptFrame.exec(part.text)?.[1];
      return typeof frame === 'string' && names.has(frame)
        ? [{ tool_call_id: part.tool_call_id, data_frame: frame }]
        : [];
    }),
  );
};

const firstCharacters = 60;

const valuesOf = async (
  tx: Tx,
  {
    source,
    redaction,
    copies,
    body,
    datasetId,
  }: { source: Source; redaction: Redaction; copies: Copies; body: CreateCaseBody; datasetId: string },
): Promise<CaseValues> => {
  const recording = await source.read(tx);
  // The model gets the texts of a person as one.
  const withoutRest = ({ role, content }: TapeMessage): TapeMessage =>
    redaction.value({ role, content: role === 'user' ? [textPart(textOf(content))] : content });
  const messages = recording.messages.map(withoutRest);
  const [first] = messages;
  const message = redaction.text(recording.message ?? (first ? textOf(first.content) : ''));
  const named =
    source.name?.trim() || [...message].slice(0, firstCharacters).join('').trim() || source.run.id;
  const freeNameOf = async (): Promise<string> => {
    const taken = await listNames(tx, datasetId);
    return freeCaseName(redaction.text(named), (one) => taken.has(one));
  };
  const expected = source.isCompleted ? redaction.value(source.result) : null;
  return recordedValues({
    name: body.name ?? (await freeNameOf()),
    input: {
      message,
      payload: redaction.value(recording.payload),
      history: recording.history.map(withoutRest),
    },
    expected: body.expected === undefined ? expected : body.expected,
    tags: body.tags,
    graders: body.graders,
    enabled: body.enabled,
    tape: { messages, continuations: redaction.value(recording.continuations) },
    made: madeBy(messages, new Set(copies.frames.map(({ name }) => name))),
    replies: redaction.value(repliesOf(recording.messages, source)),
  });
};

/** Makes a case of a finished run, and the response of it in the same transaction. */
export type FromRun = <R>(
  request: {
    datasetId: string;
    mode: DatasetMode;
    body: CreateCaseBody;
    actor: Actor;
    transaction: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>;
  },
  respond: (tx: Tx, created: Case) => Promise<R>,
) => Promise<R>;

export interface FromRunParts {
  db: Database;
  vault: Vault;
  bytes: FileBytes;
  folder: string;
  secretOwners: SecretOwners;
}

export const createFromRun =
  ({ db, vault, bytes, folder, secretOwners }: FromRunParts): FromRun =>
  async ({ datasetId, mode, body, actor, transaction }, respond) => {
    const parts: CopyParts = { db, bytes, folder };
    const before = await db.run((executor) => findSource(executor, body, mode, actor));
    const { owner, field, finishedAt } = before;
    const copies = await copyThings(parts, { owner, until: finishedAt!, path: field });
    try {
      return await transaction(async (tx) => {
        const dataset = await lockDataset(tx, datasetId);
        await before.keep(tx);
        // It may have been restarted in the meantime.
        const source = await findSource(tx, body, mode, actor);
        const { agent_id, agent_version, status, error } = source.run;
        const redaction = await redactionOf(tx, secretOwners, { id: agent_id, version: agent_version });
        const values = await valuesOf(tx, { source, redaction, copies, body, datasetId });
        const id = newId();
        const created = await createCase(tx, vault, actor, dataset, values, {
          id,
          source: {
            [field]: source.run.id,
            agent_id,
            agent_version,
            status,
            error: redaction.value(error),
          },
        });
        await insertCopies(tx, caseOwner(id), {
          files: copies.files,
          frames: redaction.value(
            copies.frames.map(({ created_at: _, ...frame }) => frame),
          ) as Copies['frames'],
        });
        return respond(tx, created);
      });
    } catch (thrown) {
      await dropCopies(parts, copies, thrown);
      throw thrown;
    }
  };
