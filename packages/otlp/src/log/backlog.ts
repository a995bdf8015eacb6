import { type Accepted, type AcceptedTotals, nothingAccepted } from './record.ts';

/**
 * About how many bytes of an integration come after its first `passed` spans. `steps`: what had been accepted at some
 * positions of the log, oldest first; between two of them all spans are taken to be equally large.
 */
export const bytesBehind = (
  number: number,
  passed: number,
  accepted: Accepted,
  steps: Iterable<AcceptedTotals>,
): number => {
  let from = nothingAccepted;
  let to = accepted;
  for (const totals of steps) {
    const total = totals.get(number) ?? nothingAccepted;
    if (total.spans <= passed) from = total;
    else {
      to = total;
      break;
    }
  }
  const share = to.spans === from.spans ? 0 : (to.spans - passed) / (to.spans - from.spans);
  return Math.round(accepted.bytes - to.bytes + (to.bytes - from.bytes) * share);
};
