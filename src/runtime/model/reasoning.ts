import type { Model, StepRequest } from '../step.ts';

/**
 * Reasoning in the text of a reply: models of open weights write it between tags, and a server without a reasoning
 * parser passes it on. It is reasoning all the same: no one is shown it, and it is no part of a result.
 */

const tags = ['think', 'thinking', 'reasoning'];
const opening = new RegExp(`^\\s*<(${tags.join('|')})>`, 'i');
const closing = new RegExp(`</(${tags.join('|')})>`, 'i');
const anyOpening = new RegExp(`<(${tags.join('|')})>`, 'i');

/** Not in `toLowerCase` of the text, which can be longer: of İ, for one. */
const indexOfClosing = (text: string, tag: string): number => text.search(new RegExp(`</${tag}>`, 'i'));

/**
 * `text` without the reasoning at its start. Text after a tag that is not closed is all reasoning. Some chat templates
 * write the first tag into the prompt: the text before a closing tag that nothing opened is reasoning too.
 */
export const withoutReasoningText = (text: string): string => {
  let rest = text;
  for (let match = opening.exec(rest); match; match = opening.exec(rest)) {
    const tag = match[1]!.toLowerCase();
    const end = indexOfClosing(rest, tag);
    rest = end === -1 ? '' : rest.slice(end + tag.length + 3).trimStart();
  }
  if (rest !== text) return rest;
  const lone = closing.exec(text);
  if (!lone || anyOpening.test(text.slice(0, lone.index))) return text;
  return text.slice(lone.index + lone[0].length).trimStart();
};

/** Returns whether more text could make `text` begin with a tag. */
const mayBecomeTag = (text: string): boolean => {
  const start = text.trimStart().toLowerCase();
  return tags.some((tag) => `<${tag}>`.startsWith(start));
};

/** `onDelta` without the reasoning at the start of the reply, also if a tag comes in several pieces. */
export const withoutReasoningDeltas = (onDelta: (text: string) => void) => {
  /** The tag that is open; null outside of one; undefined when the start of the reply is over. */
  let tag: string | null | undefined = null;
  let held = '';
  let removed = false;
  const take = (): void => {
    for (;;) {
      if (tag === undefined) break;
      if (tag !== null) {
        const end = indexOfClosing(held, tag);
        if (end === -1) {
          // Only what may be the beginning of the closing tag matters.
          held = held.slice(-(tag.length + 2));
          return;
        }
        held = held.slice(end + tag.length + 3);
        tag = null;
        removed = true;
      }
      const match = opening.exec(held);
      if (match) {
        tag = match[1]!.toLowerCase();
        held = held.slice(match[0].length);
        continue;
      }
      if (mayBecomeTag(held)) return;
      if (removed) held = held.trimStart();
      tag = undefined;
    }
    if (held !== '') onDelta(held);
    held = '';
  };
  return {
    push: (text: string): void => {
      held += text;
      take();
    },
    /** The reply is complete: what was held back is no tag. */
    end: (): void => {
      if (tag === null && !(removed && held.trim() === '') && held !== '') onDelta(held);
      held = '';
    },
  };
};

/** `model` without the reasoning in the text of its replies, whole or as it comes. */
export const withoutReasoning = (model: Model): Model => ({
  ...model,
  step: async (request: StepRequest) => {
    const deltas = request.onDelta && withoutReasoningDeltas(request.onDelta);
    const result = await model.step(deltas ? { ...request, onDelta: deltas.push } : request);
    deltas?.end();
    return { ...result, text: withoutReasoningText(result.text) };
  },
});
