import { type Model, ModelError, type ModelErrorCode } from './step.ts';

/** A model that a step may ask, and how much it can read. */
export interface Candidate {
  llmId: string;
  model: Model;
  contextTokens: number;
}

/** After these another model may reply where this one could not. */
const passedOn: readonly ModelErrorCode[] = ['model_unavailable', 'model_unauthorized', 'model_rate_limited'];

/** The failure of all: retried if one of them may be, after the shortest wait that they asked for. */
const combined = (failures: readonly ModelError[]): ModelError => {
  const retryable = failures.filter((failure) => failure.retryable);
  const shown = retryable[0] ?? failures[0]!;
  if (failures.length === 1 || retryable.length === 0) return shown;
  const waits = retryable.map(({ retryAfterMs }) => retryAfterMs ?? 0);
  const retryAfterMs = Math.min(...waits) || null;
  return new ModelError(shown.code, shown.message, { retryable: true, retryAfterMs });
};

/**
 * Asks each model in turn until one replies. The next one is asked at once if a model is unavailable, refuses the key or
 * limits the rate; any other failure ends the step. Rejects with ModelError, or as the signal of the call says.
 */
export const askInTurn = async <T>(
  candidates: readonly Candidate[],
  ask: (candidate: Candidate) => Promise<T>,
): Promise<T> => {
  const failures: ModelError[] = [];
  for (const candidate of candidates) {
    try {
      return await ask(candidate);
    } catch (error) {
      if (!(error instanceof ModelError) || !passedOn.includes(error.code)) throw error;
      failures.push(error);
    }
  }
  throw combined(failures);
};
