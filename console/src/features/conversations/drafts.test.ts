import { expect, test } from 'vitest';
import { applyEvent, type Draft } from './drafts.ts';

const delta = (message_id: string, text: string) => ({
  event: 'message.delta',
  data: { message_id, text, at: 'now' },
});
const after = (...events: { event: string; data: object }[]) =>
  events.reduce<readonly Draft[]>(applyEvent, []).map(({ id, text }) => `${id}: ${text}`);

test('text grows, and is void after a reset or when the run is followed again from its start', () => {
  const written = [delta('a', 'One '), delta('a', 'two'), delta('b', 'Three')];
  expect(after(...written)).toEqual(['a: One two', 'b: Three']);
  expect(after(...written, { event: 'run.reset', data: { message_ids: ['a'] } })).toEqual(['b: Three']);
  expect(after(...written, { event: 'run.started', data: { message_id: 'x' } }, delta('b', 'Th'))).toEqual([
    'b: Th',
  ]);
});
