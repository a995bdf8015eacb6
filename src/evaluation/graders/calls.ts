import { isSubset } from './values.ts';

/** Comparison of the tool calls of a trial with those that are expected. */

export interface MadeCall {
  tool_name: string;
  arguments: unknown;
}

export interface ExpectedCall {
  tool_name: string;
  /** The call must have these; null: any. */
  arguments?: Record<string, unknown> | null | undefined;
}

const matches = (made: MadeCall, wanted: ExpectedCall): boolean =>
  made.tool_name === wanted.tool_name &&
  (wanted.arguments == null || isSubset(made.arguments ?? {}, wanted.arguments));

/** Returns how many expected calls were made, each by a call of its own: the largest matching (Kuhn's algorithm). */
const countMatched = (fits: readonly (readonly boolean[])[], made: number): number => {
  const takenBy: (number | undefined)[] = Array(made).fill(undefined);
  const place = (wanted: number, tried: Set<number>): boolean => {
    for (let call = 0; call < made; call++) {
      if (!fits[wanted]![call] || tried.has(call)) continue;
      tried.add(call);
      const holder = takenBy[call];
      if (holder !== undefined && !place(holder, tried)) continue;
      takenBy[call] = wanted;
      return true;
    }
    return false;
  };
  return fits.filter((_, wanted) => place(wanted, new Set())).length;
};

/** Returns the length of the longest run of expected calls that were made in this order, others in between allowed. */
const longestInOrder = (fits: readonly (readonly boolean[])[], made: number): number => {
  let lengths: number[] = Array(made + 1).fill(0);
  for (const row of fits) {
    const next: number[] = [0];
    for (let call = 0; call < made; call++) {
      next.push(row[call] ? lengths[call]! + 1 : Math.max(next[call]!, lengths[call + 1]!));
    }
    lengths = next;
  }
  return lengths[made]!;
};

/** Returns the value from 0 to 1 and what is said of it. */
export const compareCalls = (
  made: readonly MadeCall[],
  wanted: readonly ExpectedCall[],
  match: 'set' | 'order' | 'exact',
  never: readonly string[],
): { value: number; explanation: string } => {
  const forbidden = made.find(({ tool_name }) => never.includes(tool_name));
  if (forbidden) return { value: 0, explanation: `${forbidden.tool_name} was called, which must never be.` };
  const fits = wanted.map((one) => made.map((call) => matches(call, one)));
  if (match === 'exact') {
    const isExact = made.length === wanted.length && fits.every((row, i) => row[i]);
    const names = made.map(({ tool_name }) => tool_name).join(', ') || 'none';
    return {
      value: isExact ? 1 : 0,
      explanation: `${wanted.length} calls are expected. Made were: ${names}.`,
    };
  }
  if (wanted.length === 0) return { value: 1, explanation: 'No call is expected.' };
  const found = match === 'set' ? countMatched(fits, made.length) : longestInOrder(fits, made.length);
  const missing = wanted.find((_, i) => !fits[i]!.some(Boolean));
  const first = missing ? ` There is no call of ${missing.tool_name} that fits.` : '';
  const order = match === 'order' ? ' in this order' : '';
  return {
    value: found / wanted.length,
    explanation: `${found} of ${wanted.length} expected calls were made${order}.${first}`,
  };
};
