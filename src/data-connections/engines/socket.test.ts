import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as soon } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { coalesceWrites } from './socket.ts';

it('what is written without a pause is one write, in its order, and nothing waits for more', async () => {
  const sent: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      sent.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      sent.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  const coalesced = coalesceWrites(stream as unknown as Socket);
  for (const text of ['parse ', 'bind ', 'execute']) coalesced.write(text);
  await soon();
  coalesced.write('sync');
  await soon();
  expect(sent).toEqual(['parse bind execute', 'sync']);
  coalesced.write('rollback ');
  await new Promise<void>((resolve) => coalesced.end('terminate', resolve));
  expect(sent.join('|')).toBe('parse bind execute|sync|rollback terminate');
});
