import { z } from 'zod';
import { costFields } from '../charges/index.ts';
import { id, jsonObject, optional, text, timestamp } from '../http/index.ts';
import { characters } from '../lib/text.ts';
import { runUsage } from '../lib/usage.ts';
import { messagePart } from '../messages/index.ts';
import { decisionList, pendingApproval, shownApprovals } from '../runs/index.ts';
import type { ConversationMessage } from './message-store.ts';
import { type ConversationRun, runStatuses } from './run-store.ts';
import type { Conversation } from './store.ts';

const name = text(200);

const maxMetadataBytes = 16 * 1024;

const metadata = jsonObject
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= maxMetadataBytes,
    'must have at most 16 KB (16,384 bytes) as JSON',
  )
  .meta({ openapi: { type: 'object', additionalProperties: true } });

export const createBody = z
  .object({
    name: optional(name, null).describe(
      'Without one it is named by the first 60 characters of its first message.',
    ),
    metadata: optional(metadata, {}).describe('Free-form metadata, at most 16 KB.'),
  })
  .meta({ id: 'CreateConversationBody' });

export const updateBody = z
  .object({
    name: name.nullable().optional().describe('null: it is named by its first message.'),
    metadata: metadata.optional(),
  })
  .meta({ id: 'UpdateConversationBody' });

const maxText = 100_000;
const maxFiles = 20;

const textInput = z.object({ type: z.literal('text'), text: text(maxText, 1) }).meta({ id: 'TextInput' });
const fileInput = z.object({ type: z.literal('file'), file_id: id }).meta({ id: 'FileInput' });

const parts = z
  .array(z.discriminatedUnion('type', [textInput, fileInput]))
  .min(1)
  .max(1_000)
  .refine(
    (list) =>
      list.reduce((sum, part) => sum + (part.type === 'text' ? characters(part.text) : 0), 0) <= maxText,
    `must have at most ${maxText.toLocaleString('en')} characters of text in all`,
  )
  .refine(
    (list) => list.filter(({ type }) => type === 'file').length <= maxFiles,
    `must have at most ${maxFiles} files`,
  );

export const messageBody = z
  .object({
    content: optional(z.union([text(maxText, 1), parts])).describe(
      'Text, or text and file parts. While a run waits for a person, it continues that run.',
    ),
    decisions: optional(decisionList).describe(
      "What a person decided on `pending_approvals`. Requires the agent's `approval_role`.",
    ),
    wait_seconds: optional(z.int().min(0).max(600), 120).describe(
      'How long to wait for the end of the run. Streams do not use it.',
    ),
  })
  .meta({ id: 'SendMessageBody' });

export type MessageBody = z.output<typeof messageBody>;

export const publicConversation = z
  .object({
    id,
    agent_id: id,
    name: z.string().nullable().describe('Without a name of its own, the beginning of its first message.'),
    status: z.enum(['idle', 'running', 'needs_review']),
    active_run_id: id.nullable().describe('The run that is queued, is running or waits for a person.'),
    message_count: z.int(),
    last_message_at: timestamp.nullable(),
    metadata: jsonObject,
    created_by: z.string().describe('The id of the person, or of the first API key of the service account.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicConversation' });

export const toConversationResponse = (conversation: Conversation): z.input<typeof publicConversation> => ({
  ...conversation,
  name: conversation.name ?? conversation.title,
});

export const conversationMessage = z
  .object({
    id,
    conversation_id: id,
    run_id: id,
    role: z.enum(['user', 'assistant', 'tool']),
    content: z.array(messagePart),
    created_at: timestamp,
  })
  .meta({ id: 'ConversationMessage' });

export const publicRun = z
  .object({
    id,
    conversation_id: id,
    agent_version: z.int().nullable().describe('The version of the agent; null before the first claim.'),
    status: z.enum(runStatuses),
    answer: z.string().nullable().describe('The last reply; null unless it is completed.'),
    messages: z.array(conversationMessage).describe('Those of this run, oldest first.'),
    review_id: id.nullable().describe('The review that waits for a person; null unless one does.'),
    pending_approvals: z.array(pendingApproval).describe('What a person is asked to decide.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    usage: runUsage
      .meta({ id: 'RunUsage' })
      .nullable()
      .describe('What all attempts used; null before the first reply.'),
    ...costFields,
    model: z.string().nullable().describe('The model that replied last.'),
    trace_id: z.string().nullable().describe('32 hex digits, of the last attempt; null before.'),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'PublicRun' });

export type RunResponse = z.output<typeof publicRun>;

/** A run as it is shown, with its messages. What the schema does not name is left out. */
export const toRunResponse = (
  run: ConversationRun,
  messages: readonly ConversationMessage[],
): z.input<typeof publicRun> => ({
  ...run,
  messages: [...messages],
  review_id: run.open_review?.id ?? null,
  pending_approvals: shownApprovals(run.pending_approvals, run.open_review),
});
