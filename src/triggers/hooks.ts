import type { IncomingHttpHeaders } from 'node:http';
import type { Database } from '../database/index.ts';
import type { Services } from '../feature.ts';
import type { HookRequest, HookRoute } from '../http/index.ts';
import { Batch } from '../lib/batch.ts';
import { ApiError, badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Deliveries } from './deliveries/deliveries.ts';
import type { Delivered, Delivery } from './deliveries/delivery.ts';
import type { RefusalReason } from './refusals.ts';
import type { SettingsOf, SettingsStore } from './settings.ts';
import { findWebhooks, type Webhook } from './store.ts';
import { blockedReason } from './view.ts';
import {
  authenticate,
  readWebhookEvent,
  slackResponse,
  type WebhookEvent,
  type WebhookRequest,
} from './webhooks/index.ts';

export interface HookParts extends Pick<Services, 'db' | 'settings' | 'clock'> {
  store: SettingsStore;
  deliveries: Deliveries;
  /** Called for each request that is refused with 400 or 401. */
  onRefused: (triggerId: string, reason: RefusalReason) => void;
  /** Called for each event that is acknowledged, with the time since its request began. */
  onAcknowledged: (seconds: number) => void;
}

const noWebhook = () => notFound('webhook');

/** A webhook with its settings in the clear. */
interface Opened {
  row: Webhook;
  settings: SettingsOf['webhook'];
}

/** Webhooks by their ids. Requests that come together share what is read. */
const createLookup = (db: Database, store: SettingsStore) =>
  new Batch<string, Opened | null>({
    most: 500,
    atOnce: 2,
    run: async (ids) => {
      const rows = await db.run((executor) => findWebhooks(executor, [...new Set(ids)]));
      const byId = new Map<string, Opened>(
        rows.map((row) => [row.id, { row, settings: store.open(row).settings as SettingsOf['webhook'] }]),
      );
      return ids.map((id) => byId.get(id) ?? null);
    },
  });

/** A header that was sent several times is one with commas (RFC 9110, section 5.3). */
const flatHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

/** The depth of the Work Item that a delivery makes: one more than that of the Work Item whose callback it is. */
const depthOf = ({ headers }: WebhookRequest, { depth }: WebhookEvent): number =>
  headers['agent-platform-depth'] === undefined ? 0 : depth + 1;

const toDelivery = (
  row: Webhook,
  occurrenceId: string,
  request: WebhookRequest,
  event: WebhookEvent,
): Delivery => {
  const ping = { outcome: 'filtered', reason: 'GitHub sent it when the webhook was made.' } as const;
  return {
    triggerId: row.id,
    definition: row,
    occurrenceId,
    identity: event.identity,
    event: event.event,
    position: null,
    known: event.invalid !== null ? { outcome: 'invalid', reason: event.invalid } : event.ping ? ping : null,
    raw: request.body,
    depth: depthOf(request, event),
  };
};

const json = (status: number, body: unknown) => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});

/** `POST /hooks/{trigger_id}`: no key of the platform, but what the scheme of the trigger requires. */
export const hookRoute = (parts: HookParts): HookRoute => {
  const { db, settings, clock, store, deliveries, onRefused, onAcknowledged } = parts;
  const lookup = createLookup(db, store);

  /** Throws 404 unless the path names a webhook. */
  const find = async ({ method, params }: HookRequest): Promise<Opened> => {
    const id = params.trigger_id!;
    const found = method === 'POST' && isId(id) ? await lookup.add(id.toLowerCase()) : null;
    if (found === null) throw noWebhook();
    return found;
  };

  const readBody = async (id: string, request: HookRequest): Promise<Buffer> => {
    const kb = settings.get().MAX_EVENT_SIZE_IN_KB;
    try {
      return await request.readBody(kb * 1024);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'bad_request')) throw error;
      onRefused(id, 'too_large');
      throw badRequest(`The body of an event may have at most ${kb} KB.`, {
        setting: 'MAX_EVENT_SIZE_IN_KB',
      });
    }
  };

  /** Returns the SHA-256 of what was signed. Throws 401. */
  const check = ({ row, settings: webhook }: Opened, request: WebhookRequest): string | null => {
    const blocked = blockedReason({ ...row, watched_exists: true }, settings.get().ALLOW_UNSIGNED_WEBHOOKS);
    if (blocked !== null) {
      onRefused(row.id, 'unsigned');
      throw new ApiError('unauthorized', blocked);
    }
    const { secret, previous_secret, ...scheme } = webhook;
    const secrets = [secret, row.previous_secret_valid ? previous_secret : null].filter(
      (one) => one !== null,
    );
    const result = authenticate(scheme, secrets, request, clock.now());
    if (result.authentic) return result.signedHash;
    onRefused(row.id, result.reason);
    throw new ApiError('unauthorized', result.message);
  };

  const handler: HookRoute['handler'] = async (request) => {
    const begun = performance.now();
    const found = await find(request);
    const { row, settings: webhook } = found;
    const body = await readBody(row.id, request);
    const hook = { headers: flatHeaders(request.headers), body };
    const signedHash = check(found, hook);
    request.limitRate(`trigger ${row.id}`);
    const occurrenceId = newId();
    const received = { signedHash, receivedAt: new Date(clock.now()), occurrenceId };
    const event = readWebhookEvent(webhook, hook, received);
    if (event === null) {
      onRefused(row.id, 'batch');
      throw badRequest('Batches of CloudEvents are not supported. Send each event in a request of its own.');
    }
    const slack = webhook.scheme === 'slack' ? slackResponse(hook, event.event.body) : null;
    if (slack !== null && slack !== 'empty') return json(200, slack);
    const delivered: Delivered = await deliveries.deliver(toDelivery(row, occurrenceId, hook, event));
    if (delivered === 'gone' || delivered === 'held') throw noWebhook();
    onAcknowledged((performance.now() - begun) / 1_000);
    return slack === 'empty'
      ? { status: 200, body: '' }
      : json(202, { occurrence_id: delivered.occurrenceId });
  };

  return { path: '/hooks/{trigger_id}', operation: 'receiveWebhook', handler };
};
