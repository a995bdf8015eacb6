import type { ApiProblem } from '../api/request.ts';
import { states } from '../text/en/states.ts';

/** Message of a failed request. */
export const messageOf = (error: ApiProblem): string => {
  if (error.code === 'unreachable') return states.unreachable;
  if (error.code === 'timeout') return states.timeout;
  if (error.status === 429) return states.tooMany;
  return error.message || states.failed;
};
