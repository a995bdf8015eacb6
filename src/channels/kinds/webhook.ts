import { signedHeaders } from '../../callbacks/index.ts';
import { newId } from '../../lib/ids.ts';
import { happenedAt, type Subject } from '../messages/subject.ts';
import type { SettingsOf } from '../settings.ts';
import type { Kind } from './kind.ts';
import { type HttpRequest, type PostParts, sendRequest, testRequest } from './post.ts';

type Settings = SettingsOf<'webhook'>;

/** The review or alert as the API shows it, without what a channel must not have: messages, addresses and answers of tools. */
const dataOf = (subject: Subject, withArguments: boolean): unknown => {
  if (subject.type === 'alert') {
    const { messages: _, ...alert } = subject.alert as typeof subject.alert & { messages?: unknown };
    return alert;
  }
  const { messages: _, ...review } = subject.review as typeof subject.review & { messages?: unknown };
  return {
    ...review,
    approvals: review.approvals.map((approval) => ({
      ...approval,
      ...('url' in approval && { url: null }),
      ...(!withArguments && { arguments: null }),
      ...((!withArguments || approval.kind === 'input') && { executed_arguments: undefined }),
    })),
  };
};

const signed = (
  { url, headers, secret }: Settings,
  event: { id: string; type: string; timestamp: Date; data: unknown },
  now: number,
): HttpRequest => {
  const { id, type, timestamp, data } = event;
  const body = JSON.stringify({ type, timestamp: timestamp.toISOString(), data });
  return {
    url,
    headers: { ...headers, ...signedHeaders(secret, { id, seconds: Math.floor(now / 1_000), body }) },
    body,
  };
};

/** Webhooks, signed as callbacks are. Each event has an id of its own, which is the same in every attempt. */
export const webhookKind = (parts: PostParts): Kind<'webhook'> => ({
  send: (settings, { id, notice, subject, withArguments, signal }) => {
    const event = {
      id: `${id}_${notice.type.replace('.', '_')}`,
      type: notice.type,
      timestamp: happenedAt(subject),
      data: dataOf(subject, withArguments),
    };
    return sendRequest(parts, signed(settings, event, parts.clock.now()), signal);
  },
  test: (settings, { id, steps }) => {
    const now = parts.clock.now();
    const event = { id: newId(), type: 'channel.test', timestamp: new Date(now), data: { channel_id: id } };
    return testRequest(parts, signed(settings, event, now), steps);
  },
});
