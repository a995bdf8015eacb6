import type { CallToolResult } from '@modelcontextprotocol/client';
import type { CallOutcome } from './client/call-outcome.ts';
import type { Connection } from './client/connection.ts';
import type { ServerMemory } from './client/memory.ts';
import { resultText } from './client/results.ts';
import type { ToolDefinition } from './definitions.ts';
import { checksOf } from './schema-checks.ts';
import type { ToolServerRow } from './store.ts';

/** The result of a call for the model. */
export interface ToolCallResult {
  text: string;
  isError: boolean;
  /** The call was sent and no answer came, and it must not be repeated: no one knows whether it took effect. */
  outcomeUnknown?: boolean;
  /** The server refuses access, in a sentence: the model cannot change that. */
  unauthorized?: string;
}

/** Outcomes of calls, for the metrics. */
export const callOutcomes = ['ok', 'error', 'refused', 'no_answer', 'unknown'] as const;
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

const answered = (parts: CallParts, result: CallToolResult): ToolCallResult => {
  const fault = outputFault(parts, result);
  const text = resultText(result, (shown) => parts.connection.redactor.text(shown), fault);
  return { text, isError: result.isError === true || fault !== null };
};

/**
 * Calls a tool, once more if it is idempotent and no answer came. Wrong arguments are not sent. Rejects only with the
 * reason of `signal`.
 */
export const callTool = async (
  parts: CallParts,
  args: Record<string, unknown>,
  { signal, depth }: { signal: AbortSignal; depth: number },
): Promise<ToolCallResult> => {
  const { memory, server, connection, definition, definitionHash, idempotent, count } = parts;
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
  const timeoutMs = server.call_timeout_seconds * 1_000;
  const once = (): Promise<CallOutcome> =>
    memory.limit(server, () => {
      signal.throwIfAborted();
      return connection.call({ definition, args, depth, timeoutMs, signal });
    });
  let outcome = await once();
  if (outcome.kind === 'lost' && idempotent) outcome = await once();
  switch (outcome.kind) {
    case 'answer': {
      const result = answered(parts, outcome.result);
      count(result.isError ? 'error' : 'ok');
      return result;
    }
    case 'error':
      return failed('error', outcome.message);
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
