import { expect, test } from 'vitest';
import { readEvents, type StreamEvent } from './event-stream.ts';

const read = async (...chunks: (string | Uint8Array)[]): Promise<StreamEvent[]> => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  const events: StreamEvent[] = [];
  await readEvents(body, (event) => events.push(event));
  return events;
};

test('events are read however the network cuts them', async () => {
  const text = ': heartbeat\n\nid: 6\nevent: message\ndata: {"a":"ö"}\n\nid: 7\ndata: {"b":\ndata: 2}\n\n';
  const whole = [
    { id: '6', event: 'message', data: { a: 'ö' } },
    { id: '7', event: 'message', data: { b: 2 } },
  ];
  expect(await read(text)).toEqual(whole);
  expect(await read(text.replaceAll('\n', '\r\n'))).toEqual(whole);
  const bytes = new TextEncoder().encode(text);
  expect(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
});

test('lines that end in CR LF are read when the cut is between the two', async () => {
  expect(await read('data: 1\r\n\r', '\ndata: 2\r\n', '\r\n')).toEqual([
    { id: '', event: 'message', data: 1 },
    { id: '', event: 'message', data: 2 },
  ]);
});

test('what is no JSON is a text, and an event that is cut off is none', async () => {
  expect(await read('data: hello\n\ndata: {"a"')).toEqual([{ id: '', event: 'message', data: 'hello' }]);
});
