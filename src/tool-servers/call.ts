import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { AskedInput, GivenInput } from '../tool-inputs/index.ts';
import type { CallOutcome } from './client/call-outcome.ts';
import type { Connection } from './client/connection.ts';
import { cannotGive } from './client/input.ts';
import type { ServerMemory } from './client/memory.ts';
import { resultText } from './client/results.ts';
import type { ToolDefinition } from './definitions.ts';
import { askedInput, asks, stateFault } from './input.ts';
import { checksOf } from './schema-checks.ts';
import type { ToolServerRow } from './store.ts';

/** The result of a call for the model. */
export interface ToolCallResult {
  text: string;
  isError: boolean;
  /** The call was sent and no answer came, and it must not be repeated: no one knows whether it took effect. */
  outcomeUnknown?: boolean;
  /** The tool asks people for input, and there is no result yet. */
  input?: AskedInput;
  /** The server refuses access, in a sentence: the model cannot change that. */
  unauthorized?: string;
}

/** Outcomes of calls, for the metrics. */
export const callOutcomes = ['ok', 'error', 'refused', 'no_answer', 'unknown', 'input'] as const;
export type CountedOutcome = (typeof callOutcomes)[number];

export interface CallParts {
  memory: ServerMemory;
  server: ToolServerRow;
  connection: Connection;
  definition: ToolDefinition;
  definitionHash: string;
  idempotent: boolean;
  /** True if the tool may still be called as it was offered. */
  isCallable: () => Promise<boolean>;
  count: (outcome: CountedOutcome) => void;
}

/** Returns what is wrong with a result's structured content; null if nothing is. */
const outputFault = (
  { definition, definitionHash }: CallParts,
  { isError, structuredContent }: CallToolResult,
): string | null => {
  if (isError === true || definition.outputSchema === undefined) return null;
  if (structuredContent === undefined) return 'it is missing';
  return checksOf(definitionHash, definition).output?.(structuredContent) ?? null;
};

/** Says that a tool server refuses access. */
export const refusesAccess = (
  { name }: Pick<ToolServerRow, 'name'>,
  { message }: { message: string },
): string => `The tool server "${name}" refuses access. ${message}`;

const withNotes = (text: string, notes: readonly string[] = []): string => [text, ...notes].join('\n');

const answered = (parts: CallParts, { result, notes }: CallOutcome & { kind: 'answer' }): ToolCallResult => {
  const fault = outputFault(parts, result);
  const text = withNotes(
    resultText(result, (shown) => parts.connection.redactor.text(shown), fault),
    notes,
  );
  return { text, isError: result.isError === true || fault !== null };
};

/** The pause before a call is repeated for which the server only wants its state back, in milliseconds; then twice as long. */
const firstPauseMs = 1_000;

interface CallOptions {
  signal: AbortSignal;
  depth: number;
  input?: GivenInput | undefined;
}

/**
 * Makes the call, once more if it is idempotent and no answer came. If the server wants nothing but its state back, the call
 * is repeated with it after 1, 2, 4 s … within the time of one call; then no answer has come.
 */
const callUntilAnswered = async (
  { memory, server, connection, definition, idempotent }: CallParts,
  args: Record<string, unknown>,
  { signal, depth, input }: CallOptions,
): Promise<CallOutcome> => {
  const beganAt = performance.now();
  const left = () => server.call_timeout_seconds * 1_000 - (performance.now() - beganAt);
  const once = (given: GivenInput | null, timeoutMs: number): Promise<CallOutcome> =>
    memory.limit(server, () => {
      signal.throwIfAborted();
      const call = { definition, args, depth, idempotent, signal };
      return connection.call({ ...call, input: given, timeoutMs: Math.max(1, timeoutMs) });
    });
  const make = async (given: GivenInput | null, timeoutMs: () => number): Promise<CallOutcome> => {
    const outcome = await once(given, timeoutMs());
    return outcome.kind === 'lost' && idempotent ? once(given, timeoutMs()) : outcome;
  };
  let outcome = await make(input ?? null, () => server.call_timeout_seconds * 1_000);
  for (let pauseMs = firstPauseMs; outcome.kind === 'input_required'; pauseMs *= 2) {
    const { requests, requestState } = outcome;
    if (Object.keys(requests).length > 0 || stateFault(requestState) !== null) return outcome;
    if (pauseMs >= left()) return { kind: 'lost' };
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    const given: GivenInput = { way: 'result', round: 0, responses: {}, requestState, answered: [] };
    outcome = await make(given, left);
  }
  return outcome;
};

/**
 * Calls a tool, once more if it is idempotent and no answer came. Wrong arguments are not sent. Rejects only with the
 * reason of `signal`.
 */
export const callTool = async (
  parts: CallParts,
  args: Record<string, unknown>,
  options: CallOptions,
): Promise<ToolCallResult> => {
  const { server, connection, definition, definitionHash, idempotent, count } = parts;
  const failed = (outcome: CountedOutcome, text: string): ToolCallResult => {
    count(outcome);
    return { text, isError: true };
  };
  const fault = checksOf(definitionHash, definition).args(args);
  if (fault !== null) return failed('refused', `The tool was not called: the arguments are wrong: ${fault}.`);

  if (!(await parts.isCallable())) {
    return failed(
      'refused',
      'The tool was not called: it has changed, or was withdrawn, and must be accepted by a person first.',
    );
  }
  const outcome = await callUntilAnswered(parts, args, options);
  if (asks(outcome)) {
    const asked = askedInput(outcome, options.input, connection);
    if ('fault' in asked) return failed('error', cannotGive(asked.fault));
    count('input');
    return { text: '', isError: false, input: asked };
  }
  switch (outcome.kind) {
    case 'answer': {
      const result = answered(parts, outcome);
      count(result.isError ? 'error' : 'ok');
      return result;
    }
    case 'error':
      return failed('error', withNotes(outcome.message, outcome.notes));
    case 'refused':
      return failed('refused', `The tool was not called. ${outcome.message}`);
    case 'unauthorized':
      return {
        ...failed('refused', `The tool was not called. ${outcome.message}`),
        unauthorized: refusesAccess(server, outcome),
      };
    case 'lost':
      if (idempotent) {
        return failed('no_answer', 'The tool server sent no answer, also when it was called once more.');
      }
      return {
        ...failed('unknown', 'The tool server sent no answer: it is not known whether the call took effect.'),
        outcomeUnknown: true,
      };
  }
};
