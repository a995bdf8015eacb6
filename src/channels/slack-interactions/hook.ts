import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../database/index.ts';
import type { HookRequest, HookRoute } from '../../http/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError, messageOf, unavailable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { isSameText, slackSignature, slackSigned } from '../../lib/signed-text.ts';
import type { ChannelSettingsStore } from '../settings.ts';
import { type ChannelRow, findChannel } from '../store.ts';
import { type Click, clickOf } from './click.ts';

const maxBodyBytes = 256 * 1_024;
/** Slack's limit for a timestamp, in milliseconds. */
const toleranceMs = 300_000;
/** Slack waits 3 s for the response. */
const respondWithinMs = 2_500;

interface Parts {
  db: Database;
  log: Logger;
  clock: Clock;
  store: ChannelSettingsStore;
  handle: (row: ChannelRow, click: Click, onCommitted: () => void) => Promise<void>;
}

/** One message for whatever is wrong, the channel too: nothing is learnt of which channels there are. */
const refusal = () =>
  new ApiError(
    'unauthorized',
    'This is not a request of Slack that is signed with the secret of this channel.',
  );

const one = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** Returns whether the body is signed with the secret, at most five minutes ago. */
const isSigned = (secret: string, { headers }: HookRequest, body: Buffer, now: number): boolean => {
  const timestamp = one(headers['x-slack-request-timestamp']);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1_000) > toleranceMs) return false;
  return isSameText(one(headers['x-slack-signature']), slackSignature(secret, slackSigned(timestamp, body)));
};

/** The JSON in the form that Slack sends; null if there is none. */
const payloadIn = (body: Buffer): unknown => {
  try {
    return JSON.parse(new URLSearchParams(body.toString('utf8')).get('payload') ?? 'null');
  } catch {
    return null;
  }
};

/** Clicks over HTTP, in channels that have a signing secret. */
export const slackHook = ({ db, log, clock, store, handle }: Parts): HookRoute => ({
  path: '/app/api/channels/{channel_id}/slack',
  operation: 'receiveSlackInteraction',
  handler: async (request) => {
    const id = request.params.channel_id!;
    if (request.method !== 'POST' || !isId(id)) throw refusal();
    const row = await db.run((executor) => findChannel(executor, id));
    const settings = row && store.open(row);
    const secret = settings?.kind === 'slack' ? settings.signing_secret : undefined;
    if (!row?.enabled || secret === undefined) throw refusal();
    const body = await request.readBody(maxBodyBytes).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'bad_request' ? refusal() : error;
    });
    if (!isSigned(secret, request, body, clock.now())) throw refusal();
    const click = clickOf(payloadIn(body));
    if (click !== null) {
      const { promise: committed, resolve } = Promise.withResolvers<void>();
      const handled = handle(row, click, resolve).then(
        () => true,
        (error) => {
          log.error({ channel_id: id, error: messageOf(error) }, 'a click in Slack was not handled');
          return false;
        },
      );
      const late = sleep(respondWithinMs, true, { ref: false });
      // Slack then shows who clicked that it did not work.
      if (!(await Promise.race([committed.then(() => true), handled, late]))) {
        throw unavailable('The click could not be handled. Try again in a moment.');
      }
    }
    return { status: 200, body: '' };
  },
});
