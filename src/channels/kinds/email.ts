import type { Socket } from 'node:net';
import { type Address, type Egress, EgressError } from '../../lib/egress.ts';
import { codeOf, connectTo } from '../../lib/foreign-socket.ts';
import { escapeHtml } from '../../lib/html.ts';
import { newId } from '../../lib/ids.ts';
import { parseSender, parseSmtpUrl } from '../configuration.ts';
import type { Notice } from '../messages/notice.ts';
import type { SettingsOf } from '../settings.ts';
import { TestFailure, testFailureOf } from '../test-steps.ts';
import { type Kind, type SendResult, sendMs } from './kind.ts';

type Settings = SettingsOf<'email'>;

interface Parts {
  egress: Pick<Egress, 'resolve'>;
  publicUrl: () => string;
}

/** A mail has so many characters of arguments; the page has all of them. */
const mostArguments = 100_000;

interface Mail {
  to: string;
  subject: string;
  messageId: string;
  /** The Message-ID of the mail that it continues. */
  inReplyTo?: string;
  text: string;
  html: string;
}

/** An error of nodemailer: `code` names what failed, `responseCode` is the server's. */
interface SmtpError {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** The domain of the Message-ID: that of the sender. */
const domainOf = ({ from }: Settings): string => parseSender(from)!.address.split('@')[1]!;

/** Connects to an address that egress permits, the first that accepts. */
const dial = async ({ egress }: Parts, { smtp_url }: Settings, withinMs: number): Promise<Socket> => {
  const { host, port } = parseSmtpUrl(smtp_url)!;
  const addresses = await egress.resolve(host);
  return connectToFirst(addresses, port, withinMs);
};

const connectToFirst = async (
  addresses: readonly Address[],
  port: number,
  withinMs: number,
): Promise<Socket> => {
  const deadline = Date.now() + withinMs;
  let code = 'no response in time';
  for (const [i, address] of addresses.entries()) {
    const left = Math.max(1, deadline - Date.now());
    try {
      return await connectTo(address, port, left / (addresses.length - i));
    } catch (error) {
      if ((error as { code?: string }).code !== undefined) code = codeOf(error);
    }
  }
  throw new EgressError('connect', `no connection (${code})`);
};

/** A transport over `socket`, which it ends. TLS checks the name of the host, whatever address was dialled. */
const transportOver = async (socket: Socket, settings: Settings, withinMs: number) => {
  const { secure, host, port, user, password } = parseSmtpUrl(settings.smtp_url)!;
  const { default: nodemailer } = await import('nodemailer');
  return nodemailer.createTransport({
    host,
    port,
    secure,
    requireTLS: settings.tls === 'required' && !secure,
    ignoreTLS: settings.tls === 'none',
    ...(user !== '' && { auth: { user, pass: password } }),
    connectionTimeout: withinMs,
    greetingTimeout: withinMs,
    socketTimeout: withinMs,
    getSocket: (_options, callback) => callback(null, { connection: socket }),
    // What it sends is made here: a text is never a path or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

const submit = async (socket: Socket, settings: Settings, mail: Mail, withinMs: number): Promise<void> => {
  const { name, address } = parseSender(settings.from)!;
  const transport = await transportOver(socket, settings, withinMs);
  try {
    await transport.sendMail({
      from: { name, address },
      to: { name: '', address: mail.to },
      subject: mail.subject,
      messageId: mail.messageId,
      ...(mail.inReplyTo !== undefined && { inReplyTo: mail.inReplyTo, references: mail.inReplyTo }),
      text: mail.text,
      html: mail.html,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  } finally {
    transport.close();
    socket.destroy();
  }
};

const cutArguments = (text: string, left: number): string =>
  text.length <= left ? text : `${text.slice(0, Math.max(0, left))}…\nThe page has all of it.`;

/** The parts of a mail, each as its lines. */
const sectionsOf = ({
  title,
  facts,
  calls,
  outcome,
  edits,
}: Notice): { heading: string; lines: string[]; code?: boolean }[] => {
  let left = mostArguments;
  return [
    { heading: title, lines: outcome === null ? [] : [outcome] },
    { heading: '', lines: facts.map(({ label, value }) => `${label}: ${value}`) },
    ...(outcome === null ? calls : []).flatMap(({ title: call, reason, arguments: json }) => {
      const shown = json === null ? null : cutArguments(json, left);
      left -= json?.length ?? 0;
      return [
        { heading: call, lines: reason === null ? [] : [reason] },
        ...(shown === null ? [] : [{ heading: '', lines: shown.split('\n'), code: true }]),
      ];
    }),
    ...(edits.length === 0
      ? []
      : [
          {
            heading: 'Edited arguments',
            lines: [...edits],
            code: true,
          },
        ]),
  ].filter(({ heading, lines }) => heading !== '' || lines.length > 0);
};

const textOf = (notice: Notice): string =>
  [
    ...sectionsOf(notice).map(({ heading, lines, code }) =>
      [...(heading === '' ? [] : [heading]), ...lines.map((line) => (code ? `    ${line}` : line))].join(
        '\n',
      ),
    ),
    notice.type === 'review.opened' ? `Decide: ${notice.link}` : `Open: ${notice.link}`,
  ].join('\n\n');

/** Without images, styles of others and scripts; the only address in it is the link. */
const htmlOf = (notice: Notice): string => {
  const sections = sectionsOf(notice).map(({ heading, lines, code }, i) => {
    const tag = i === 0 ? 'h2' : 'h3';
    const head = heading === '' ? '' : `<${tag}>${escapeHtml(heading)}</${tag}>`;
    if (lines.length === 0) return head;
    const body = lines.map(escapeHtml);
    return (
      head + (code ? `<pre>${body.join('\n')}</pre>` : `<p>${body.join('<br>').replaceAll('\n', '<br>')}</p>`)
    );
  });
  const link = escapeHtml(notice.link);
  const label = notice.type === 'review.opened' ? 'Decide' : 'Open';
  return `<!doctype html><html><body>${sections.join('')}<p><a href="${link}">${label}</a><br>${link}</p></body></html>`;
};

const reasonOf = ({ code, responseCode }: SmtpError): string => {
  if (responseCode !== undefined) {
    const what = code === 'EAUTH' ? 'refused the user or password' : 'refused the mail';
    return `The mail server ${what} (${responseCode}).`;
  }
  if (code === 'ETLS')
    return 'TLS failed: the mail server does not offer it, or its certificate is not trusted.';
  if (code === 'ETIMEDOUT') return 'The mail server did not respond in time.';
  return `The connection to the mail server failed (${codeOf({ code })}).`;
};

/** A wrong password is a fault of the channel, which an edit removes; any other 5xx is about this mail (RFC 5321, 4.2.1). */
const isPermanent = ({ code, responseCode }: SmtpError): boolean =>
  responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH';

/** E-mail over SMTP. A mail has only a link: no one decides by mail. What became of something is a second mail of the thread. */
export const emailKind = (parts: Parts): Kind<'email'> => ({
  send: async (settings, { id, notice, to, posted, signal }): Promise<SendResult> => {
    const recipient = to === 'channel' ? undefined : 'address' in to ? to.address : to.person.email;
    if (recipient === undefined) {
      return { outcome: 'failed', error: 'The channel has no recipients.', blamesChannel: false };
    }
    const first = posted?.message_id;
    const mail: Mail = {
      to: recipient,
      subject: first === undefined ? notice.title : `Re: ${notice.title}`,
      messageId: `<${id}.${notice.type}@${domainOf(settings)}>`,
      ...(first !== undefined && { inReplyTo: first }),
      text: textOf(notice),
      html: htmlOf(notice),
    };
    let socket: Socket | undefined;
    const end = () => socket?.destroy();
    signal.addEventListener('abort', end);
    try {
      socket = await dial(parts, settings, sendMs);
      signal.throwIfAborted();
      await submit(socket, settings, mail, sendMs);
      return { outcome: 'delivered', posted: { message_id: first ?? mail.messageId } };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof EgressError) {
        return { outcome: 'retry', error: `${error.message}.`, retryAfterMs: null };
      }
      const reason = reasonOf(error as SmtpError);
      return isPermanent(error as SmtpError)
        ? { outcome: 'failed', error: reason, blamesChannel: false }
        : { outcome: 'retry', error: reason, retryAfterMs: null };
    } finally {
      signal.removeEventListener('abort', end);
    }
  },

  test: async (settings, { callerEmail, steps }) => {
    const { host, port, secure, user } = parseSmtpUrl(settings.smtp_url)!;
    const encrypted = secure || settings.tls === 'required';
    steps.begin('resolve');
    try {
      const addresses = await steps.within(parts.egress.resolve(host));
      steps.passed(`${host} has the address ${addresses.map(({ address }) => address).join(', ')}.`);
      steps.begin('connect');
      const connect = () => connectToFirst(addresses, port, steps.msLeft);
      const socket = await connect();
      steps.passed(`${host}:${port} accepts connections.`);
      steps.begin(encrypted ? 'tls' : user === '' ? 'message' : 'authenticate');
      const transport = await transportOver(socket, settings, steps.msLeft);
      try {
        await steps.within(transport.verify());
      } finally {
        transport.close();
        socket.destroy();
      }
      if (encrypted) {
        steps.begin('tls');
        steps.passed('The certificate is trusted.');
      }
      if (user !== '') {
        steps.begin('authenticate');
        steps.passed('The mail server accepts the user and password.');
      }
      steps.begin('message');
      const recipients =
        settings.recipients.length > 0 ? settings.recipients : [callerEmail].filter((one) => one !== null);
      if (recipients.length === 0) {
        throw new TestFailure('There are no `recipients`, and you have no verified e-mail to send it to.');
      }
      const text = `This is a test of a channel of Agent Platform.\n\n${parts.publicUrl()}`;
      for (const to of recipients) {
        const mail: Mail = {
          to,
          subject: 'Test of a channel',
          messageId: `<${newId()}.test@${domainOf(settings)}>`,
          text,
          html: `<!doctype html><html><body><p>${escapeHtml(text).replace('\n\n', '<br>')}</p></body></html>`,
        };
        await steps.within(submit(await connect(), settings, mail, steps.msLeft));
      }
      steps.passed(
        `The mail server accepted ${recipients.length === 1 ? 'the mail' : `${recipients.length} mails`}.`,
      );
    } catch (error) {
      if (error instanceof TestFailure) throw error;
      if (error instanceof EgressError) throw testFailureOf(error, 'connect');
      const { code } = error as SmtpError;
      const step = code === 'ETLS' ? 'tls' : code === 'EAUTH' ? 'authenticate' : null;
      throw new TestFailure(reasonOf(error as SmtpError), step);
    }
  },
});
