import type { Executor } from '../database/index.ts';
import { textOf } from '../messages/index.ts';
import type { Continuation, RecordedDecision, Recording, RunError } from '../runs/index.ts';
import { listRecordedMessages, listStopsAfter } from './recording-store.ts';
import type { WorkItem } from './store.ts';

type Stops = Awaited<ReturnType<typeof listStopsAfter>>;
type Messages = Awaited<ReturnType<typeof listRecordedMessages>>;

const stoppedAs = { NEEDS_REVIEW: 'needs_review', INDETERMINATE: 'indeterminate' } as const;

/** The part of a decision that the history keeps, in the order of the calls. */
interface HistoryDecision {
  kind: string;
  tool_name: string | null;
  decision: 'approve' | 'deny';
  reason?: string;
}

/**
 * The decisions with the calls that they are about: those of the last reply without a result, in their order for each
 * tool. The history names no call.
 */
const decisionsOf = (
  decided: readonly HistoryDecision[],
  before: Messages,
  later: Messages,
): RecordedDecision[] => {
  const reply = before.findLastIndex(({ role }) => role === 'assistant');
  const parts = before.slice(reply).flatMap(({ content }) => content);
  const done = new Set(parts.flatMap((part) => (part.type === 'tool_result' ? [part.tool_call_id] : [])));
  const open = parts.flatMap((part) =>
    part.type === 'tool_call' && !done.has(part.tool_call_id) ? [part] : [],
  );
  const results = new Map(
    later.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'tool_result' ? [[part.tool_call_id, part] as const] : [])),
    ),
  );
  return decided.flatMap(({ tool_name, decision, reason }) => {
    const at = open.findIndex((call) => call.tool_name === tool_name);
    const [call] = at === -1 ? [] : open.splice(at, 1);
    if (!call) return [];
    const edited = results.get(call.tool_call_id)?.executed_arguments;
    return {
      tool_call_id: call.tool_call_id,
      tool_name: call.tool_name,
      decision,
      ...(edited ? { arguments: edited } : {}),
      ...(reason ? { reason } : {}),
    };
  });
};

const continuationsOf = (messages: Messages, stops: Stops): Continuation[] =>
  stops.flatMap(({ seq, action, from, details }, i) => {
    const stop = stops.slice(0, i).findLast((one) => one.from === 'EXECUTING');
    if (action !== 'continue' || !stop) return [];
    const before = messages.filter((message) => message.seq < stop.seq);
    // Nothing else is written while no worker has it: the results of refused calls, and what the person wrote.
    const said = messages.find(
      (message) => message.seq > stop.seq && message.seq < seq && message.role === 'user',
    );
    const text = said && textOf(said.content);
    return {
      after: before.length,
      stopped: stoppedAs[from as keyof typeof stoppedAs] ?? 'error',
      decisions: decisionsOf(
        (details.decisions ?? []) as HistoryDecision[],
        before,
        messages.slice(before.length),
      ),
      message: text ?? null,
    };
  });

/** The record of the present conversation of a Work Item. */
export const readRecording = async (executor: Executor, item: WorkItem): Promise<Recording> => {
  const all = await listRecordedMessages(executor, item);
  const messages = all.filter(({ role }) => role !== 'system');
  const stops = messages.length === 0 ? [] : await listStopsAfter(executor, item.id, messages[0]!.seq);
  const errors = new Map<number, string>();
  for (const { seq, from, details } of stops) {
    const last = messages.findLastIndex((message) => message.seq < seq);
    const { code } = (details.error ?? {}) as Partial<RunError>;
    if (from === 'EXECUTING' && code !== undefined) errors.set(last, code);
  }
  return {
    messages: messages.map(({ role, content, provider_parts, usage }, i) => ({
      role: role as Recording['messages'][number]['role'],
      content,
      provider_parts,
      usage,
      ended_by: errors.get(i) ?? null,
    })),
    continuations: continuationsOf(messages, stops),
  };
};
