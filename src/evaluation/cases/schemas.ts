import { z } from 'zod';
import { id, jsonObject, jsonValue, optional, pageOf, text, timestamp } from '../../http/index.ts';
import { type MessagePart, messagePart, textPart } from '../../messages/index.ts';
import { caseGraders, shownGrader, tagList } from '../../trial-options/index.ts';
import type { TapeMessage } from './content.ts';

const maxMessage = 100_000;
const mostMessages = 5_000;

/** Any text: a recorded model may have called a tool that no one can have, even one without a name. */
const toolName = z.string();

const part = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'TapeTextPart' }),
    z
      .object({
        type: z.literal('tool_call'),
        tool_call_id: text(1_000, 1),
        tool_name: toolName,
        arguments: optional(jsonValue, {}).describe('What the model passes to the tool.'),
      })
      .meta({ id: 'TapeToolCallPart' }),
    z
      .object({
        type: z.literal('tool_result'),
        tool_call_id: text(1_000, 1).describe('The `tool_call_id` of the call.'),
        tool_name: toolName,
        text: z.string(),
        is_error: optional(z.boolean(), false).describe(
          'The call failed; `text` is what the model received.',
        ),
        executed_arguments: optional(jsonObject).describe(
          'What the tool was called with; only where a person changed the arguments.',
        ),
      })
      .meta({ id: 'TapeToolResultPart' }),
  ])
  .meta({ id: 'TapePart' });

const partsOfRole: Record<TapeMessage['role'], readonly MessagePart['type'][]> = {
  user: ['text'],
  assistant: ['text', 'tool_call'],
  tool: ['tool_result'],
};

const message = z
  .object({
    role: z.enum(['user', 'assistant', 'tool']),
    content: z
      .union([z.string(), z.array(part).max(1_000)])
      .transform((content) => (typeof content === 'string' ? [textPart(content)] : content))
      .describe('Text, or parts: text of users, text and tool calls of assistants, results of tools.'),
  })
  .superRefine(({ role, content }, context) => {
    const allowed = partsOfRole[role];
    for (const [i, { type }] of content.entries()) {
      if (allowed.includes(type)) continue;
      const text = `cannot be a ${type} in a message of the role ${role}; it has ${allowed.join(' and ')}`;
      context.addIssue({ code: 'custom', path: ['content', i, 'type'], message: text });
    }
  })
  .transform(
    ({ role, content }): TapeMessage => ({
      role,
      content: content.map((one) => {
        if (one.type !== 'tool_result' || one.executed_arguments !== undefined) return one as MessagePart;
        const { executed_arguments: _, ...result } = one;
        return result;
      }),
    }),
  )
  .meta({ id: 'TapeMessageBody' });

/** The messages with a message of its own for each result of a tool, as the platform records them. */
const oneResultEach = (list: readonly TapeMessage[]): TapeMessage[] =>
  list.flatMap((one) =>
    one.role === 'tool' ? one.content.map((part) => ({ role: one.role, content: [part] })) : [one],
  );

/** Messages in which each result of a tool belongs to a call before it. */
const messages = z
  .array(message)
  .max(mostMessages)
  .superRefine((list, context) => {
    const called = new Set<string>();
    for (const [i, { content }] of list.entries()) {
      for (const [k, one] of content.entries()) {
        if (one.type === 'tool_call') called.add(one.tool_call_id);
        if (one.type !== 'tool_result' || called.has(one.tool_call_id)) continue;
        const path = [i, 'content', k, 'tool_call_id'];
        context.addIssue({ code: 'custom', path, message: 'is not the id of a tool call before it' });
      }
    }
  });

const stopped = z.enum(['needs_review', 'indeterminate', 'error']);

const decision = z
  .object({
    tool_call_id: text(1_000, 1),
    tool_name: text(1_000, 1),
    decision: z.enum(['approve', 'deny']),
    arguments: optional(jsonObject).describe(
      'Those that the call was made with, if the person changed them.',
    ),
    reason: optional(z.string()),
  })
  .meta({ id: 'RecordedDecisionBody' });

const continuation = z
  .object({
    after: z.int().min(0).describe('The number of messages of the tape before the run stopped.'),
    stopped: optional(stopped, 'needs_review' as const).describe('Why it had stopped.'),
    decisions: optional(z.array(decision).max(1_000), []),
    message: optional(z.string(), null).describe('What the person wrote; it is on the tape, too.'),
  })
  .meta({ id: 'ContinuationBody' });

const tape = z
  .object({
    messages,
    continuations: z
      .array(continuation)
      .max(1_000)
      .nullish()
      .describe('How people continued the run. Left out, those that the case has stay.'),
  })
  .superRefine(({ messages: list, continuations }, context) => {
    for (const [i, { after }] of (continuations ?? []).entries()) {
      if (after <= list.length) continue;
      const path = ['continuations', i, 'after'];
      context.addIssue({
        code: 'custom',
        path,
        message: `must be at most ${list.length}, the number of messages`,
      });
    }
  })
  .transform(({ messages: list, continuations }) => ({
    messages: oneResultEach(list),
    continuations: continuations?.map((one) => ({
      ...one,
      after: oneResultEach(list.slice(0, one.after)).length,
    })),
  }))
  .describe('What an agent replied and its tools returned, for replays.')
  .meta({ id: 'TapeBody' });

const inputFields = {
  message: text(maxMessage),
  payload: jsonObject.describe('Of a case for worker agents.'),
  history: messages
    .transform(oneResultEach)
    .describe('The messages before, of a case for conversational agents.'),
};

const name = text(200, 1).describe('Unique in the dataset.');
const expected = jsonValue.nullable().describe('What is expected of the result; null: nothing.');
const graders = caseGraders.describe('Graders besides those of the dataset. At most 10.');

const newInput = z
  .object({
    message: inputFields.message,
    payload: optional(inputFields.payload, {}),
    history: optional(inputFields.history, []),
  })
  .meta({ id: 'CaseInputBody' });

/** The fields of a case that is written by hand, or imported. */
const written = {
  name: optional(name).describe('Default: `case-` and 12 hex digits of the SHA-256 of the input.'),
  input: newInput,
  expected: optional(expected, null),
  tags: optional(tagList, []),
  graders: optional(graders, []),
  enabled: optional(z.boolean(), true).describe('Whether experiments run it.'),
  tape: optional(tape, null),
};

/** One line of an import. */
export const importedCase = z.object(written).meta({ id: 'ImportedCase' });
export type WrittenCase = z.output<typeof importedCase>;

export const createBody = z
  .object({
    ...written,
    input: optional(newInput).describe('Required unless the case is made of a run.'),
    expected: expected.optional(),
    work_item_id: optional(id).describe('The case is made of this Work Item, which is COMPLETED or ERROR.'),
    run_id: optional(id).describe('The case is made of this run of a conversation, completed or error.'),
  })
  .superRefine(({ work_item_id, run_id, input, tape: given }, context) => {
    const source = work_item_id !== undefined ? 'work_item_id' : 'run_id';
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (work_item_id === undefined && run_id === undefined) {
      if (input !== undefined) return;
      const missing = 'is required, unless `work_item_id` or `run_id` names what the case is made of';
      context.addIssue({ code: 'custom', path: ['input'], message: missing, params: { missing } });
      return;
    }
    if (work_item_id !== undefined && run_id !== undefined) {
      refuse('run_id', 'cannot be given next to `work_item_id`: a case is made of one of them');
    }
    if (input !== undefined) refuse('input', `cannot be given next to \`${source}\`, which has an input`);
    if (given !== null) refuse('tape', `cannot be given next to \`${source}\`, which is the tape`);
  })
  .meta({ id: 'CreateCaseBody' });
export type CreateCaseBody = z.output<typeof createBody>;

export const updateBody = z
  .object({
    name: name.optional(),
    input: z
      .object({
        message: inputFields.message.optional(),
        payload: inputFields.payload.nullish(),
        history: inputFields.history.nullish(),
      })
      .optional()
      .describe('Merged key by key; null resets a key.'),
    expected: expected.optional(),
    tags: tagList.nullish(),
    graders: graders.nullish(),
    enabled: z.boolean().optional(),
    tape: tape.nullable().optional(),
  })
  .meta({ id: 'UpdateCaseBody' });
export type CaseChanges = z.output<typeof updateBody>;

const shownMessage = z
  .object({ role: z.enum(['user', 'assistant', 'tool']), content: z.array(messagePart) })
  .meta({ id: 'TapeMessage' });

const source = z
  .object({
    work_item_id: id.optional(),
    run_id: id.optional(),
    agent_id: id,
    agent_version: z.int().nullable(),
    status: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'CaseSource' });

const shownFields = {
  id,
  dataset_id: id,
  name: z.string(),
  input: z
    .object({
      message: z.string(),
      payload: jsonObject.optional().describe('Of a case for worker agents.'),
      history: z.array(shownMessage).optional().describe('Of a case for conversational agents.'),
    })
    .meta({ id: 'CaseInput' }),
  expected: jsonValue.describe('null: nothing is expected.'),
  tags: z.array(z.string()),
  graders: z.array(shownGrader),
  enabled: z.boolean(),
  has_tape: z.boolean(),
  source: source.nullable().describe('The run that it was made of; null if it was written or imported.'),
  files: z
    .array(
      z.object({ name: z.string(), content_type: z.string(), size_bytes: z.int() }).meta({ id: 'CaseFile' }),
    )
    .describe('Copies of the files of the run.'),
  data_frames: z
    .array(
      z
        .object({
          name: z.string(),
          description: z.string().nullable(),
          columns: z.array(jsonObject),
          row_count: z.int(),
          size_bytes: z.int(),
        })
        .meta({ id: 'CaseDataFrame' }),
    )
    .describe('Copies of the data frames of the run.'),
  transcript_hash: z.string().nullable().describe('SHA-256 of the transcript, in hex; null without a tape.'),
  revision: z.int().describe('The number of its edits.'),
  created_at: timestamp,
  updated_at: timestamp,
};

const shownContinuation = z
  .object({
    after: z.int().describe('The number of messages of the tape before the run stopped.'),
    stopped: stopped.describe('Why it had stopped.'),
    decisions: z.array(
      z
        .object({
          tool_call_id: z.string(),
          tool_name: z.string(),
          decision: z.enum(['approve', 'deny']),
          arguments: jsonObject
            .optional()
            .describe('Those that the call was made with, if the person changed them.'),
          reason: z.string().optional(),
        })
        .meta({ id: 'RecordedDecision' }),
    ),
    message: z.string().nullable().describe('What the person wrote; it is on the tape, too.'),
  })
  .meta({ id: 'Continuation' });

export const shownTape = z
  .object({ messages: z.array(shownMessage), continuations: z.array(shownContinuation) })
  .meta({ id: 'Tape' });

export const publicCase = z.object({ ...shownFields, tape: shownTape.nullable() }).meta({ id: 'PublicCase' });

export const casePage = pageOf('CasePage', z.object(shownFields).meta({ id: 'ListedCase' }));

/** Throws nothing: returns the faults of an input in a dataset of this mode. */
export const modeFaults = (
  mode: 'worker' | 'conversational',
  {
    payload,
    history,
  }: { payload?: object | null | undefined; history?: readonly unknown[] | null | undefined },
): { path: string; message: string }[] => {
  if (mode === 'worker' && (history?.length ?? 0) > 0) {
    return [
      { path: 'input.history', message: 'must be empty: the cases of this dataset are for worker agents' },
    ];
  }
  if (mode === 'conversational' && Object.keys(payload ?? {}).length > 0) {
    return [
      {
        path: 'input.payload',
        message: 'must be empty: the cases of this dataset are for conversational agents',
      },
    ];
  }
  return [];
};
