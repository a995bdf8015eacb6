import { expect, test } from 'vitest';
import { StreamAggregate } from './aggregate.ts';
import { encodeRecord, headerNames } from './message.ts';
import { StreamReader } from './reader.ts';
import type { LogStream } from './stream.ts';

test('the cache of bodies is bounded by their size, however many integrations share a body, and drops the oldest first', async () => {
  const routes = Array.from({ length: 20 }, (_, i) => i + 1);
  // 2 MB, of which each integration has 100 KB.
  const record = encodeRecord(routes.map((n) => ({ bytes: Buffer.alloc(100_000), spans: 1, routes: [n] })))!;
  const fold = new StreamAggregate();
  const records = 16;
  for (let seq = 1; seq <= records; seq++) {
    const header = (name: string) => record.headers[name] ?? '';
    fold.add({ seq, time: 1, kind: 'head', size: record.body.length, header });
  }
  const asked: number[] = [];
  const stream = {
    payload: async (seq: number) => {
      asked.push(seq);
      return record.body;
    },
  } as unknown as LogStream;
  const reader = new StreamReader(stream, fold);
  const signal = new AbortController().signal;
  const read = (number: number, seq: number) =>
    reader.readBatch(number, { seq: seq - 1, recordOffset: 0, ordinal: seq - 1 }, 1, signal);
  expect(fold.accepted(1)).toEqual({ spans: records, bytes: records * 100_000 });
  expect(record.headers[headerNames.account]).toContain('20=1/100000');
  for (let seq = 1; seq <= records; seq++) await read(1, seq);
  asked.length = 0;
  // 16 MiB: the last eight.
  for (let seq = records; seq > records - 8; seq--) await read(2, seq);
  expect(asked).toEqual([]);
  await read(2, 1);
  expect(asked).toEqual([1]);
});
