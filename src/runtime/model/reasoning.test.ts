import { describe, expect, it, test } from 'vitest';
import { llmOf } from '../../../tests/harness/providers/fixture.ts';
import { protocols } from '../../../tests/harness/providers/index.ts';
import { createModel } from './index.ts';
import { withoutReasoningDeltas, withoutReasoningText } from './reasoning.ts';

const replies: [name: string, reply: string, answer: string][] = [
  ['none', 'The answer is 4.', 'The answer is 4.'],
  ['a block', '<think>secret</think>The answer is 4.', 'The answer is 4.'],
  ['white space around it', '\n<think>\nsecret\n</think>\n\nThe answer is 4.\n', 'The answer is 4.\n'],
  ['another tag', '<Thinking>a < b</THINKING> 4', '4'],
  ['a third tag', '<reasoning>secret</reasoning>4', '4'],
  ['letters whose lower case is longer', '<think>İİİ</think>The answer is 4.', 'The answer is 4.'],
  ['two blocks', '<think>a</think>\n<reasoning>b</reasoning>\n4', '4'],
  ['a tag inside', '<think>a </thinking> b <think> c</think>4', '4'],
  ['an empty block', '<think>\n\n</think>\n\n4', '4'],
  ['nothing else', '<think>secret</think>', ''],
  ['a block that is not closed', '<think>secret', ''],
  ['a tag in the middle', 'Write <think>x</think> first.', 'Write <think>x</think> first.'],
  ['the beginning of a tag', '<thi', '<thi'],
  ['a similar tag', '<thinker>x</thinker>', '<thinker>x</thinker>'],
  ['only white space', ' \n', ' \n'],
];

/** All ways to send `text` in pieces of `size` characters. */
const pieces = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

describe('the reasoning in the text of a reply', () => {
  it.each(replies)('is no part of it: %s', (_name, reply, answer) => {
    expect(withoutReasoningText(reply)).toBe(answer);
    for (const size of [1, 2, 5, 1_000]) {
      const sent: string[] = [];
      const deltas = withoutReasoningDeltas((text) => void sent.push(text));
      for (const piece of pieces(reply, size)) deltas.push(piece);
      deltas.end();
      expect(sent.join('')).toBe(answer);
      expect(sent).not.toContain('');
    }
  });

  it('is what stands before a closing tag that nothing opened, in what is stored', () => {
    expect(withoutReasoningText('secret\n</think>\n\nThe answer is 4.')).toBe('The answer is 4.');
    expect(withoutReasoningText('secret</reasoning>4 </think> 5')).toBe('4 </think> 5');
  });
});

test.each(['streamed', 'whole'])(
  'a reply of an endpoint and its deltas have no reasoning (%s)',
  async (how) => {
    for (const protocol of Object.values(protocols)) {
      const turn = { text: '<think>a secret plan</think>\n\nThe answer is 4.' };
      const streamed = how === 'streamed';
      const body = streamed ? Buffer.concat(protocol.stream(turn)) : JSON.stringify(protocol.whole(turn));
      const type = streamed ? protocol.streamType : 'application/json';
      const fetch = async () => new Response(body, { headers: { 'content-type': type } });
      const sent: string[] = [];
      const { text } = await createModel(llmOf(protocol, 'http://model.test/v1', { streaming: streamed }), {
        fetch,
      }).step({
        messages: [{ role: 'user', text: 'Hi' }],
        tools: [],
        signal: new AbortController().signal,
        maxOutputTokens: null,
        cacheKey: null,
        onDelta: (piece) => void sent.push(piece),
      });
      expect([text, sent.join('')]).toEqual(['The answer is 4.', 'The answer is 4.']);
    }
  },
);
