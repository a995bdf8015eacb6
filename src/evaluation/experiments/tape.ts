import { differences, type FieldChange } from '../../lib/differences.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import type { Continuation } from '../../runs/index.ts';
import { type Message, runtimeCalls } from '../../runtime/index.ts';
import type { CaseContent, RecordedReply } from '../cases/content.ts';

/** The tape of a case, read for one trial: replies of the model, results of tools, and what people did. */

/** A recorded tool call with its result. */
export interface Entry {
  toolCallId: string;
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
  /** The data frame of the case that it made; null: none. */
  made: string | null;
  used: boolean;
}

/** A reply of the model; `recorded` is null for one that was written by hand. */
interface TapeReply {
  message: Message & { role: 'assistant' };
  recorded: RecordedReply | null;
  /** The message after it is the loop's reminder of a missing result. */
  isReminded: boolean;
}

/** One time that a person continued the source. */
export interface Continued extends Pick<Continuation, 'decisions' | 'message' | 'stopped'> {
  /** Number of replies before it stopped. */
  replies: number;
}

export interface Tape {
  replies: readonly TapeReply[];
  entries: readonly Entry[];
  /** Those that are left, in their order. */
  continued: Continued[];
}

const keyOf = (args: unknown): string => rfc8785(args ?? {});

/** Reads the tape of a case; an empty one if nothing was recorded. */
export const readTape = ({
  tape,
  replies: recorded,
  made,
}: Pick<CaseContent, 'tape' | 'replies' | 'made'>): Tape => {
  const messages = (tape?.messages ?? []).map(runtimeCalls.fromStored);
  const replies: TapeReply[] = [];
  const results = new Map<string, Message & { role: 'tool' }>();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') results.set(message.tool_call_id, message);
    if (message.role !== 'assistant') continue;
    const next = messages[at + 1];
    const isReminded = next?.role === 'user' && runtimeCalls.madeByLoop.isReminder(next.text);
    replies.push({ message, recorded: recorded[replies.length] ?? null, isReminded });
  }
  const denied = new Set(
    (tape?.continuations ?? []).flatMap(({ decisions }) =>
      decisions.flatMap(({ decision, tool_call_id }) => (decision === 'deny' ? [tool_call_id] : [])),
    ),
  );
  const frames = new Map(made.map(({ tool_call_id, data_frame }) => [tool_call_id, data_frame]));
  const entries = replies.flatMap(({ message: { tool_calls } }, step) =>
    tool_calls.flatMap((call): Entry[] => {
      const result = results.get(call.id);
      // Leaves out results that the loop wrote by itself: it writes them again.
      if (!result || runtimeCalls.madeByLoop.isResult(result)) return [];
      return [
        {
          toolCallId: call.id,
          step,
          toolName: call.name,
          arguments: call.arguments ?? {},
          key: keyOf(call.arguments),
          text: result.text,
          isError: result.is_error,
          executed: result.executed_arguments,
          denied: denied.has(call.id) || runtimeCalls.madeByLoop.isRefusalOfPerson(result),
          made: frames.get(call.id) ?? null,
          used: false,
        },
      ];
    }),
  );
  const repliesBefore = (after: number): number =>
    messages.slice(0, after).filter(({ role }) => role === 'assistant').length;
  const continued = (tape?.continuations ?? []).map(({ after, ...one }) => ({
    ...one,
    replies: repliesBefore(after),
  }));
  return { replies, entries, continued };
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

interface Call {
  toolName: string;
  arguments: unknown;
  idempotent: boolean;
}

/** Finds the recorded results of calls. */
export interface Matcher {
  /** Takes the entry of a call, or says why there is none. */
  take(call: Call): { entry: Entry } | { kind: 'not_recorded' | 'out_of_order' };
  /** Takes the entry for a call that is made later, under the id of the call. */
  reserve(callId: string, call: Call): Entry | null;
  /** Keeps a taken entry for a call that is made again, under the id of the call. */
  keep(callId: string, entry: Entry): void;
  reserved(callId: string): Entry | undefined;
  nearest(call: Pick<Call, 'toolName' | 'arguments'>): Divergence['nearest'];
  unused(): readonly Entry[];
}

/**
 * Matches by the name of the tool and the RFC 8785 of the arguments, never by order alone: swapped results would pass
 * unseen. `any_order`: the first unused entry; that of an idempotent tool may serve again. `strict`: only the next unused
 * entries, those of one step in any order.
 */
export const createMatcher = (entries: readonly Entry[], order: 'any_order' | 'strict'): Matcher => {
  const reservations = new Map<string, Entry>();
  const fits = (entry: Entry, { toolName }: Call, key: string) =>
    entry.toolName === toolName && entry.key === key;

  const find = (call: Call, key: string): Entry | undefined => {
    const unused = entries.filter((entry) => !entry.used);
    if (order === 'strict') {
      return unused.find((entry) => entry.step === unused[0]!.step && fits(entry, call, key));
    }
    return (
      unused.find((entry) => fits(entry, call, key)) ??
      (call.idempotent ? entries.find((entry) => fits(entry, call, key)) : undefined)
    );
  };

  const take: Matcher['take'] = (call) => {
    const key = keyOf(call.arguments);
    const entry = find(call, key);
    if (entry) {
      entry.used = true;
      return { entry };
    }
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
    keep: (callId, entry) => void reservations.set(callId, entry),
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
