import { ApiError } from '../../lib/errors.ts';
import { LlmFailure } from '../../llm-configurations/index.ts';
import { SandboxFailure } from '../../sandbox/index.ts';
import { ReaderFailure } from '../readers/index.ts';

/** An extraction ended without a result. */
export class ExtractionFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The refusal of a call of the model by a budget: who waits for the extraction gets it as it is. */
export const budgetRefusalOf = (error: unknown): ApiError | null =>
  error instanceof ApiError && error.code === 'precondition_failed' ? error : null;

/** The error of a failed extraction. Messages of libraries and servers are not passed on as they are. */
export const errorOf = (error: unknown): { code: string; message: string } => {
  if (error instanceof ExtractionFailure) return { code: error.code, message: error.message };
  const refusal = budgetRefusalOf(error);
  if (refusal) return { code: String(refusal.context.reason), message: refusal.message };
  if (error instanceof LlmFailure) return { code: error.reason, message: error.message };
  if (error instanceof ReaderFailure) {
    return { code: 'reader_unavailable', message: `The document could not be read: ${error.message}.` };
  }
  if (error instanceof SandboxFailure) {
    const known = ['encrypted', 'unsupported', 'unreadable', 'too_many_pages', 'time_limit'];
    const code = known.includes(error.reason) ? error.reason : 'unreadable';
    return { code, message: `The document could not be read: ${error.message}.` };
  }
  return { code: 'internal_error', message: 'The extraction failed. The log of the server says why.' };
};
