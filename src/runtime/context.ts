import type { Message } from './messages.ts';

/**
 * Parts of a conversation that models do not get, so that the rest fits into their context. The cut only grows and is
 * stored, so that the prompt begins like the one before and is found in the provider's cache. Positions are those of
 * the messages in the order in which models get them.
 */
export interface ContextCut {
  /** Input tokens of the last model call; null before the first, and after a cut. */
  lastInputTokens: number | null;
  /** The results of tools before this position are replaced. */
  resultsBefore: number;
  /** Positions of whole turns that are left out: from, and up to but not including. */
  removed: [from: number, to: number][];
}

export const noCut: ContextCut = { lastInputTokens: null, resultsBefore: 0, removed: [] };

/** A stored cut; null: none. */
export const cutOf = (stored: unknown): ContextCut => ({ ...noCut, ...(stored as ContextCut | null) });

/** The results of tools in the last messages are never replaced. */
const keptMessages = 10;

const removedResult = '[This result was removed to save space. Call the tool again if you need it.]';

/** About how long the message is as the model reads it. The unit does not matter: sizes are only compared. */
const sizeOf = (message: Message): number => {
  const calls = message.role === 'assistant' ? message.tool_calls : [];
  return message.text.length + calls.reduce((sum, call) => sum + JSON.stringify(call).length, 20);
};

const isRemoved = ({ removed }: ContextCut, at: number): boolean =>
  removed.some(([from, to]) => at >= from && at < to);

const withoutResult = (message: Message): Message =>
  message.role === 'tool' && message.text.length > removedResult.length
    ? { ...message, text: removedResult }
    : message;

/** Returns the messages of a conversation that models get, in the same order. */
export const applyCut = (messages: readonly Message[], cut: ContextCut): Message[] =>
  messages.flatMap((message, at) => {
    if (isRemoved(cut, at)) return [];
    return [at < cut.resultsBefore ? withoutResult(message) : message];
  });

/**
 * The parts that are removed as a whole: a message of a person, or a reply with the results of its calls. The first
 * user message, the last one, the instructions and the last part are none of them.
 */
const removableTurns = (messages: readonly Message[]): [number, number][] => {
  const first = messages.findIndex(({ role }) => role === 'user');
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const begins = messages.flatMap(({ role }, at) => (role === 'user' || role === 'assistant' ? [at] : []));
  return begins.flatMap((from, i) => {
    const to = begins[i + 1];
    return to === undefined || from === first || from === last ? [] : [[from, to] as [number, number]];
  });
};

/**
 * Leaves more out until about half is left of what was sent, or of the context if that is smaller: the oldest results
 * of tools first, then the oldest whole turns. Returns null if nothing more can be left out.
 */
export const cutFurther = (
  messages: readonly Message[],
  before: ContextCut,
  contextTokens: number,
): ContextCut | null => {
  const sizes = messages.map(sizeOf);
  const shownSize = (at: number, cut: ContextCut): number =>
    at < cut.resultsBefore ? sizeOf(withoutResult(messages[at]!)) : sizes[at]!;
  const sent = sizes.reduce((sum, _, at) => sum + (isRemoved(before, at) ? 0 : shownSize(at, before)), 0);
  // About four characters a token, if no reply has said yet how many it read.
  const tokens = before.lastInputTokens ?? sent / 4;
  const goal = sent * 0.5 * Math.min(1, contextTokens / Math.max(1, tokens));
  let left = sent;
  let { resultsBefore } = before;
  const removed = [...before.removed];
  for (let at = resultsBefore; left > goal && at < messages.length - keptMessages; at++) {
    const saved = sizes[at]! - sizeOf(withoutResult(messages[at]!));
    if (saved === 0 || isRemoved(before, at)) continue;
    left -= saved;
    resultsBefore = at + 1;
  }
  for (const [from, to] of removableTurns(messages)) {
    if (left <= goal) break;
    if (isRemoved(before, from)) continue;
    for (let at = from; at < to; at++) left -= shownSize(at, { ...before, resultsBefore });
    const last = removed.at(-1);
    if (last?.[1] === from) removed[removed.length - 1] = [last[0], to];
    else removed.push([from, to]);
  }
  return left < sent ? { lastInputTokens: null, resultsBefore, removed } : null;
};

/** The last call read more than 75 % of the context: the next one might not fit. */
export const isNearlyFull = ({ lastInputTokens }: ContextCut, contextTokens: number): boolean =>
  lastInputTokens !== null && lastInputTokens > contextTokens * 0.75;
