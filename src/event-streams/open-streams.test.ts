import { expect, test } from 'vitest';
import { tester } from '../../tests/harness/api.ts';
import { OpenStreams } from './open-streams.ts';

test('a key has at most 100 streams, all keys of one root have at most 150, and closed ones do not count', () => {
  const streams = new OpenStreams();
  const closing = new AbortController();
  const open = (keyId: string, rootId: string, times: number, closed = new AbortController().signal) => {
    for (let n = 0; n < times; n++) streams.open({ ...tester, keyId, rootId }, closed);
  };
  open('a', 'root', 99);
  open('a', 'root', 1, closing.signal);
  expect(() => open('a', 'root', 1)).toThrow('This API key has 100 open streams');
  open('b', 'root', 50);
  expect(() => open('b', 'root', 1)).toThrow('have 150 open streams');
  expect(() => open('c', 'root', 1)).toThrow('have 150 open streams');
  open('d', 'other', 100);
  closing.abort();
  open('c', 'root', 1);
  expect(() => open('a', 'root', 1)).toThrow('have 150 open streams');
});
