import { createHmac, randomUUID } from 'node:crypto';
import { type Agent, request } from 'node:http';

/** Headers of Standard Webhooks for a body, signed with a `whsec_` secret. */
export const signed = (
  secret: string,
  body: string,
  id: string = randomUUID(),
  seconds = Math.floor(Date.now() / 1_000),
): Record<string, string> => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
};

/** Sends a body to a port of this machine, over a connection that is kept. Rejects if there is no response. */
export const postKept = (
  agent: Agent,
  { port, path }: { port: number; path: string },
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request({
      agent,
      port,
      path,
      host: '127.0.0.1',
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      timeout: 20_000,
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('no response in 20 s')));
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    sent.end(body);
  });
