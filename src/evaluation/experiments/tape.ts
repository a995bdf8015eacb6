import { sha256 } from '../../lib/crypto.ts';
import { differences, type FieldChange } from '../../lib/differences.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import type { Usage } from '../../lib/usage.ts';
import type { MessagePart } from '../../messages/index.ts';
import { fromStored, type Message, madeByLoop } from '../../runtime/index.ts';

/** The tape of a case, read for one trial: replies of the model, results of tools, and what people said. */

/** A message of a tape, after the input. */
export interface TapeMessage {
  role: 'user' | 'assistant' | 'tool';
  content: readonly MessagePart[];
  provider_parts?: unknown;
  usage?: Usage | null | undefined;
  finish_reason?: string | null | undefined;
}

/** A recorded tool call with its result. */
export interface Entry {
  /** Position of its reply among the recorded replies, from 0. */
  step: number;
  toolName: string;
  arguments: unknown;
  /** RFC 8785 of the arguments. */
  key: string;
  text: string;
  isError: boolean;
  /** Arguments that a person put in the place of the model's. */
  executed: Record<string, unknown> | undefined;
  /** A person refused it. */
  denied: boolean;
  used: boolean;
}

export interface RecordedReply {
  message: Message & { role: 'assistant' };
  usage: Usage | null;
  finishReason: string | null;
  /** The message after it is the loop's reminder of a missing result. */
  isReminded: boolean;
}

/** A message of a person after the input. */
interface Said {
  /** Position of the last reply before it, from 0. */
  step: number;
  text: string;
  /** That reply called tools: the run waited for people. Else it had ended. */
  answers: 'calls' | 'end';
  used: boolean;
}

export interface Tape {
  replies: readonly RecordedReply[];
  entries: Entry[];
  said: Said[];
}

const keyOf = (args: unknown): string => rfc8785(args ?? {});

/** Reads a tape. What stands before its first reply is the input, which the case has. */
export const readTape = (stored: readonly TapeMessage[]): Tape => {
  const messages = stored.map((one) => ({ one, message: fromStored({ ...one, content: [...one.content] }) }));
  const replies: RecordedReply[] = [];
  const entries: Entry[] = [];
  const said: Said[] = [];
  for (const [at, { one, message }] of messages.entries()) {
    if (message.role === 'assistant') {
      const next = messages[at + 1]?.message;
      replies.push({
        message,
        usage: one.usage ?? null,
        finishReason: one.finish_reason ?? null,
        isReminded: next?.role === 'user' && madeByLoop.isReminder(next.text),
      });
    } else if (message.role === 'user') {
      const last = replies.at(-1);
      if (!last || madeByLoop.isReminder(message.text)) continue;
      const answers = last.message.tool_calls.length > 0 ? 'calls' : 'end';
      said.push({ step: replies.length - 1, text: message.text, answers, used: false });
    } else if (message.role === 'tool') {
      const step = replies.findLastIndex(({ message: reply }) =>
        reply.tool_calls.some(({ id }) => id === message.tool_call_id),
      );
      const call = replies[step]?.message.tool_calls.find(({ id }) => id === message.tool_call_id);
      // What the loop says by itself, it says again.
      if (!call || madeByLoop.isResult(message)) continue;
      entries.push({
        step,
        toolName: call.name,
        arguments: call.arguments ?? {},
        key: keyOf(call.arguments),
        text: message.text,
        isError: message.is_error,
        executed: message.executed_arguments,
        denied: madeByLoop.isRefusalOfPerson(message),
        used: false,
      });
    }
  }
  return { replies, entries: inOrderOfCalls(entries, replies), said };
};

/** Results stand in the order in which they came; entries in that of the calls. */
const inOrderOfCalls = (entries: readonly Entry[], replies: readonly RecordedReply[]): Entry[] => {
  const left = [...entries];
  return replies.flatMap(({ message }, step) =>
    message.tool_calls.flatMap((call) => {
      const at = left.findIndex(
        (entry) => entry.step === step && entry.toolName === call.name && entry.key === keyOf(call.arguments),
      );
      return at === -1 ? [] : left.splice(at, 1);
    }),
  );
};

export interface Divergence {
  /** Number of the reply of the trial, from 1. */
  step: number;
  kind: 'not_recorded' | 'out_of_order' | 'not_called' | 'no_reply';
  tool_name: string | null;
  arguments: unknown;
  /** The recorded call of the same tool that differs least; null if there is none. */
  nearest: { arguments: unknown; changes: FieldChange[] } | null;
}

type Call = { toolName: string; arguments: unknown; idempotent: boolean };

/** Finds the recorded results of calls. */
export interface Matcher {
  /** Takes the entry of a call, or says why there is none. */
  take(call: Call): { entry: Entry } | { kind: 'not_recorded' | 'out_of_order' };
  /** Takes the entry for a call that is made later, under the id of the call. */
  reserve(callId: string, call: Call): Entry | null;
  reserved(callId: string): Entry | undefined;
  nearest(call: Pick<Call, 'toolName' | 'arguments'>): Divergence['nearest'];
  unused(): readonly Entry[];
}

export const createMatcher = (entries: readonly Entry[], order: 'any_order' | 'strict'): Matcher => {
  const reservations = new Map<string, Entry>();
  const fits = (entry: Entry, { toolName }: Call, key: string) =>
    entry.toolName === toolName && entry.key === key;

  const find = (call: Call): Entry | undefined => {
    const key = keyOf(call.arguments);
    const unused = entries.filter((entry) => !entry.used);
    if (order === 'strict') {
      const [next] = unused;
      return unused.find((entry) => entry.step === next!.step && fits(entry, call, key));
    }
    return (
      unused.find((entry) => fits(entry, call, key)) ??
      (call.idempotent ? entries.find((entry) => fits(entry, call, key)) : undefined)
    );
  };

  const take: Matcher['take'] = (call) => {
    const entry = find(call);
    if (entry) {
      entry.used = true;
      return { entry };
    }
    const key = keyOf(call.arguments);
    const isElsewhere = order === 'strict' && entries.some((one) => fits(one, call, key));
    return { kind: isElsewhere ? 'out_of_order' : 'not_recorded' };
  };

  return {
    take,
    reserve: (callId, call) => {
      const taken = take(call);
      if (!('entry' in taken)) return null;
      reservations.set(callId, taken.entry);
      return taken.entry;
    },
    reserved: (callId) => reservations.get(callId),
    nearest: ({ toolName, arguments: args }) => {
      const same = entries.filter((entry) => entry.toolName === toolName);
      const unused = same.filter((entry) => !entry.used);
      const [closest] = (unused.length > 0 ? unused : same)
        .map((entry) => ({ arguments: entry.arguments, changes: differences(entry.arguments, args ?? {}) }))
        .sort((a, b) => a.changes.length - b.changes.length);
      return closest ?? null;
    },
    unused: () => entries.filter((entry) => !entry.used),
  };
};

/**
 * Returns the transcript of a conversation: RFC 8785 JSON of `[{role, content}]` without ids and system messages. The
 * results of a step stand right after its calls, in their order.
 */
export const transcriptOf = (
  stored: readonly { role: string; content: readonly MessagePart[] }[],
): string => {
  const withoutId = (part: MessagePart) => {
    if (part.type === 'text') return part;
    const { tool_call_id: _, ...shown } = part;
    if (shown.type !== 'tool_call') return shown;
    const { fault: __, ...call } = shown;
    return call;
  };
  const shown: { role: string; content: unknown[] }[] = [];
  const moved = new Set<number>();
  for (const [at, { role, content }] of stored.entries()) {
    if (role === 'system' || moved.has(at)) continue;
    shown.push({ role, content: content.map(withoutId) });
    if (role !== 'assistant') continue;
    for (const part of content) {
      if (part.type !== 'tool_call') continue;
      for (let later = at + 1; later < stored.length && stored[later]!.role !== 'assistant'; later++) {
        const [result] = stored[later]!.content;
        if (moved.has(later) || result?.type !== 'tool_result' || result.tool_call_id !== part.tool_call_id)
          continue;
        moved.add(later);
        shown.push({ role: stored[later]!.role, content: stored[later]!.content.map(withoutId) });
        break;
      }
    }
  }
  return rfc8785(shown);
};

export const transcriptHash = (transcript: string): string => sha256(transcript);
