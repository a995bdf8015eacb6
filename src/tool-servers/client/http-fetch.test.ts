import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selfSigned } from '../../../tests/harness/self-signed.ts';
import { createEgress, type Egress } from '../../lib/egress.ts';
import { failedCallOf } from './call-outcome.ts';
import { type CallTrace, withCallTrace } from './call-trace.ts';
import { createServerFetch } from './http-fetch.ts';

/** Accepts connections, and sends nothing. */
const silent = createServer();
let sockets: Socket[];
let egress: Egress;
beforeEach(async () => {
  sockets = [];
  egress = createEgress({ ca: selfSigned.cert });
  silent.on('connection', (socket) => void sockets.push(socket));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterEach(async () => {
  await egress.close();
  for (const socket of sockets) socket.destroy();
  silent.removeAllListeners('connection');
  silent.close();
  await once(silent, 'close');
});

const newTrace = (): CallTrace => {
  const end = new AbortController();
  return { depth: 0, sent: false, settled: false, lose: () => end.abort(), over: end.signal };
};
const post = (scheme: string, trace: CallTrace) => {
  const url = `${scheme}://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
  const fetch = createServerFetch(egress, { transport: 'http', url });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
  return withCallTrace(trace, () => fetch(url, { method: 'POST', body }));
};
const timedOut = new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out');

describe('a call that ends without a response', () => {
  test('was not sent while there was no connection yet: it is refused, and never sent later', async () => {
    const trace = newTrace();
    // A server that does not begin TLS.
    const posting = post('https', trace);
    await expect.poll(() => sockets.length).toBe(1);
    expect(trace.sent).toBe(false);
    expect(failedCallOf(timedOut, trace.sent)).toEqual({
      kind: 'refused',
      message: 'There was no connection to the server in time.',
    });
    trace.lose();
    await expect(posting).rejects.toThrow();

    // It begins TLS too late.
    const secured = new TLSSocket(sockets[0]!, { isServer: true, ...selfSigned });
    const first = (event: string) => once(secured, event).then(() => event);
    expect(await Promise.race([first('data'), first('close')])).toBe('close');
  });

  test('was sent when a connection took it: its outcome is not known', async () => {
    const trace = newTrace();
    const posting = post('http', trace);
    await expect.poll(() => sockets.length).toBe(1);
    await once(sockets[0]!, 'data');
    expect(trace.sent).toBe(true);
    expect(failedCallOf(timedOut, trace.sent)).toEqual({ kind: 'lost' });
    trace.lose();
    await expect(posting).rejects.toThrow();
  });
});
