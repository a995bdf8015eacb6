import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { bodyLimit, RequestBodies } from './bodies.ts';

const request = (headers: Record<string, string> = {}) =>
  Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
const response = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse;

const megabyte = Buffer.alloc(1024 * 1024, 'x');

/** Begins to read a body of this many megabytes, whose end has not arrived. */
const begin = async (bodies: RequestBodies, megabytes: number) => {
  const [from, to] = [request(), response()];
  const read = bodies.read(from, to);
  read.catch(() => {});
  for (let n = 0; n < megabytes; n++) from.write(megabyte);
  await new Promise((resolve) => setImmediate(resolve));
  return { from, to, read };
};

test('bodies that are held at the same time stay below 128 MiB: one more is 503, and its rest is dropped', async () => {
  const bodies = new RequestBodies();
  const held = await Promise.all(Array.from({ length: 14 }, () => begin(bodies, 9)));
  const refused = await begin(bodies, 3);
  await expect(refused.read).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(refused.from.readableFlowing).toBe(true);

  // A small one is still read.
  const small = await begin(bodies, 0);
  small.from.end('{}');
  expect((await small.read).toString()).toBe('{}');

  // A closed response frees its bytes, once, whether its body was read to the end or not.
  held[0]!.to.emit('close');
  refused.to.emit('close');
  const later = await begin(bodies, 8);
  later.from.end();
  expect((await later.read).length).toBe(8 * megabyte.length);
});

test('a body over the limit is 400, by its Content-Length or by the bytes that arrive', async () => {
  const bodies = new RequestBodies();
  const announced = request({ 'content-length': String(bodyLimit + 1) });
  await expect(bodies.read(announced, response())).rejects.toMatchObject({ status: 400 });
  await expect((await begin(bodies, 11)).read).rejects.toMatchObject({ status: 400 });
});

test('bytes that arrive after the response closed are not counted', async () => {
  const bodies = new RequestBodies();
  for (let n = 0; n < 40; n++) {
    const { from, to } = await begin(bodies, 1);
    to.emit('close');
    Object.assign(to, { closed: true });
    from.write(megabyte);
  }
  const { from, read } = await begin(bodies, 9);
  from.end();
  expect((await read).length).toBe(9 * megabyte.length);
});
