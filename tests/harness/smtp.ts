import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { selfSigned } from './self-signed.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** As it arrived. */
  raw: string;
  mail: ParsedMail;
}

export interface TestSmtp extends AsyncDisposable {
  port: number;
  mails: ReceivedMail[];
  /** Responds to recipients with this SMTP code from now on; null: accepts them. */
  refuseWith(code: number | null): void;
  /** Called for each mail from now on: whether it is refused for the moment, or kept although it is refused. */
  disturb(mishap: () => { lost: 'request' | 'response' | null }): void;
}

/**
 * A mail server on 127.0.0.1. With `tls` it offers STARTTLS under a certificate that no one trusts; with `user` it wants
 * the password `secret` from him.
 */
export const startSmtp = async ({
  tls = false,
  user,
}: {
  tls?: boolean;
  user?: string;
} = {}): Promise<TestSmtp> => {
  const mails: ReceivedMail[] = [];
  let refusal: number | null = null;
  let disturbed: () => { lost: 'request' | 'response' | null } = () => ({ lost: null });
  const server = new SMTPServer({
    ...selfSigned,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(user === undefined ? ['AUTH'] : [])],
    authOptional: user === undefined,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password }, _session, callback) =>
      username === user && password === 'secret'
        ? callback(null, { user })
        : callback(new Error('wrong password')),
    onRcptTo: (_address, _session, callback) => {
      if (refusal === null) return callback();
      callback(Object.assign(new Error('refused'), { responseCode: refusal }));
    },
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const later = Object.assign(new Error('later'), { responseCode: 451 });
        const { lost } = disturbed();
        if (lost === 'request') return callback(later);
        const raw = Buffer.concat(chunks).toString();
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          raw,
          mail: await simpleParser(raw),
        });
        callback(lost === 'response' ? later : null);
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    refuseWith: (code) => {
      refusal = code;
    },
    disturb: (mishap) => {
      disturbed = mishap;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
