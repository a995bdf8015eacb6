import { SqlRefusal } from '@agent-platform/sql';
import { ApiError, type Fault } from '../../lib/errors.ts';

/**
 * 422 for a query that cannot be compiled: where, why, and what a program can read of it (`reason`, `suggestions`,
 * `candidates`).
 */
export const refused = (
  path: string,
  message: string,
  context: { reason: string; suggestions?: readonly string[] } & Record<string, unknown>,
): ApiError => {
  const details: Fault[] = [{ path, message }];
  return new ApiError('unprocessable_entity', `${path}: ${message}`, { ...context, details });
};

/** Returns the result of `compile`; a refusal of SQL becomes a fault at `path`. */
export const refusedAt = <T>(path: string, compile: () => T): T => {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof SqlRefusal)) throw error;
    throw refused(path, error.message, { ...error.details });
  }
};

/** "Did you mean" for messages; nothing without suggestions. */
export const didYouMean = (suggestions: readonly string[]): string =>
  suggestions.length === 0 ? '' : `; did you mean ${suggestions.map((one) => `\`${one}\``).join(' or ')}?`;
