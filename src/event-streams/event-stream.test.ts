import { expect, test, vi } from 'vitest';
import { eventStream, type StreamSource } from './event-stream.ts';
import type { Watch } from './watcher.ts';

const open = () => {
  const watch: Watch = { changed: async () => {}, close: vi.fn() };
  return { watch, openWatch: vi.fn(() => watch) };
};

const empty: StreamSource = { read: async () => ({ events: [], ended: true, more: false }) };

test('a stream that no one reads watches nothing', async () => {
  const { openWatch } = open();
  await eventStream(empty, openWatch, new AbortController().signal).return(undefined);
  expect(openWatch).not.toHaveBeenCalled();
});

test('a stream watches before it reads, and stops at its end', async () => {
  const { watch, openWatch } = open();
  const read = vi.fn(empty.read);
  const parts: string[] = [];
  for await (const part of eventStream({ read }, openWatch, new AbortController().signal)) parts.push(part);
  expect(parts).toEqual(['retry: 2000\n\n']);
  expect(openWatch.mock.invocationCallOrder[0]!).toBeLessThan(read.mock.invocationCallOrder[0]!);
  expect(watch.close).toHaveBeenCalledOnce();
});
