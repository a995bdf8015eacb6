import { expect } from 'vitest';
import type { EventStream } from '../../harness/event-stream.ts';

export const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');

/** A message for which the mock model calls a tool, and then sends `words`, 40 ms each. */
export const askForWords = `Hello\n\nPayload (JSON):\n${JSON.stringify({
  mock: { steps: [{ tool: 'current_time' }, { text: words, delta_ms: 40 }] },
})}`;

/** What a client shows in the end: the completed messages, and the text of those that are not void. */
export const shownBy = (events: EventStream['events']): Map<string, string> => {
  const texts = new Map<string, string>();
  for (const { event, data } of events) {
    if (event === 'message.delta') {
      texts.set(data.message_id, (texts.get(data.message_id) ?? '') + data.text);
    }
    if (event === 'run.reset') for (const id of data.message_ids) texts.delete(id);
    if (event === 'message.completed') {
      const [part] = data.message.content;
      // What came before adds up to it: nothing was lost and nothing sent twice.
      expect(texts.get(data.message.id)).toBe(part.text);
    }
  }
  return texts;
};

/** Checks all events of a conversation with one run that was asked for words. */
export const expectWords = (events: EventStream['events']): void => {
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
  const { run } = events.at(-1)!.data;
  expect(run).toMatchObject({ status: 'completed', answer: words, usage: { tool_calls: 1 } });
  expect([...shownBy(events).values()]).toEqual([words]);
};
