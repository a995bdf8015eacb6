import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deltas } from './deltas.ts';
import type { NewEvent } from './event-store.ts';

let stored: NewEvent[];
let fails: boolean;
let ended: AbortController;
let deltas: Deltas;

beforeEach(() => {
  vi.useFakeTimers();
  stored = [];
  fails = false;
  ended = new AbortController();
  deltas = new Deltas(2, ended.signal, async (events) => {
    if (fails) throw new Error('the database does not respond');
    stored.push(...events);
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const texts = () =>
  stored.map(({ type, data }) => (type === 'message.delta' ? (data as { text: string }).text : type));

test('the first text is stored at once, the rest every 100 ms or 2 KB, however often it comes', async () => {
  const add = deltas.begin();
  add('a');
  await pass(0);
  expect(texts()).toEqual(['a']);
  for (const text of 'bcdef') {
    add(text);
    await pass(30);
  }
  expect(texts()).toEqual(['a', 'bcde']);
  add('x'.repeat(5_000));
  await pass(0);
  expect(texts().slice(2).join('')).toBe(`f${'x'.repeat(5_000)}`);
  expect(Math.max(...texts().map(({ length }) => length))).toBe(2_048);
});

test('a reply that another model begins again makes the one before void', async () => {
  const first = deltas.begin();
  first('lost');
  await pass(0);
  const second = deltas.begin();
  first('late');
  second('kept');
  await pass(0);
  expect(texts()).toEqual(['lost', 'run.reset', 'kept']);
  expect(stored[1]!.data).toEqual({ attempt: 2, message_ids: [stored[0]!.messageId] });
  second(' whole');
  const { id, events } = await deltas.take();
  expect(id).toBe(stored[2]!.messageId);
  expect(events.map(({ data }) => data)).toEqual([{ message_id: id, text: ' whole' }]);
  await pass(1_000);
  expect(stored).toHaveLength(3);
});

test('a reply of which nothing was stored leaves nothing behind', async () => {
  deltas.begin();
  deltas.begin();
  expect((await deltas.take()).events).toEqual([]);
});

test('half a character waits for its other half, and what cannot be stored is left out', async () => {
  const add = deltas.begin();
  add('a\u0000\ud83d');
  await pass(0);
  add('\ude42');
  await pass(100);
  expect(texts()).toEqual(['a', '🙂']);
});

test('text that could not be stored is stored later, unless the run has ended', async () => {
  const add = deltas.begin();
  fails = true;
  add('a');
  await pass(0);
  add('b');
  fails = false;
  await pass(1_000);
  expect(texts()).toEqual(['ab']);
  add('c');
  ended.abort();
  await pass(5_000);
  expect(texts()).toEqual(['ab']);
  expect(vi.getTimerCount()).toBe(0);
});

test('text and resets that are being stored when the reply is complete come with its end if that fails', async () => {
  const first = deltas.begin();
  first('void');
  await pass(0);
  const add = deltas.begin();
  fails = true;
  add('a');
  const taken = deltas.take();
  await pass(0);
  const { id, events } = await taken;
  expect(events.map(({ type }) => type)).toEqual(['run.reset', 'message.delta']);
  expect(events[0]!.data).toEqual({ attempt: 2, message_ids: [stored[0]!.messageId] });
  expect(events[1]!.data).toEqual({ message_id: id, text: 'a' });
});
