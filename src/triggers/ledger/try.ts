import { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import { id, jsonObject, jsonValue, optional, text } from '../../http/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { badRequest, notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { isObject } from '../../lib/objects.ts';
import { deliveryOf } from '../brokers/message.ts';
import { eventOf, openContent } from '../deliveries/content.ts';
import type { TriggerEvent } from '../event.ts';
import { type ExpressionFields, type Judgement, judge } from '../expressions/index.ts';
import { definition } from '../schemas.ts';
import type { Kind, SettingsStore } from '../settings.ts';
import { findTriggerOfAgent, type TriggerRow } from '../store.ts';
import { checkTried } from '../triggers.ts';
import { readWebhookEvent, type WebhookSettings } from '../webhooks/index.ts';
import { listKept } from './store.ts';

const mostTried = 50;

export const tryBody = z
  .object({
    trigger: optional(definition).describe('The definition to try. Left out: that of `trigger_id`.'),
    trigger_id: optional(id).describe('Whose kept events are tried.'),
    event_ids: optional(z.array(text(500)).max(mostTried, `must have at most ${mostTried} items`)).describe(
      'The entries or the names of these events. Left out: the last 50.',
    ),
    sample: optional(
      z.object({
        headers: optional(z.record(z.string(), z.string()), {} as Record<string, string>),
        body: jsonValue.describe('Text as it would be sent; any other JSON is sent as JSON.'),
      }),
    ),
  })
  .meta({ id: 'TryTriggerBody' });

export const tryResponse = z
  .object({
    results: z.array(
      z
        .object({
          event_id: z.string(),
          outcome: z.enum(['fired', 'filtered', 'invalid']).describe('`fired`: it would start a Work Item.'),
          reason: z.string().nullable(),
          key: jsonValue.describe('The key of `dedup`; null without one.'),
          work_item_name: z.string().nullable(),
          message: z.string().nullable(),
          payload: jsonObject.nullable(),
        })
        .meta({ id: 'TriedEvent' }),
    ),
  })
  .meta({ id: 'TriedEvents' });

type Result = z.input<typeof tryResponse>['results'][number];

const toResult = (eventId: string, judgement: Judgement): Result =>
  judgement.outcome === 'ready'
    ? {
        event_id: eventId,
        outcome: 'fired',
        reason: null,
        key: judgement.key,
        work_item_name: judgement.workItemName,
        message: judgement.message,
        payload: judgement.payload,
      }
    : {
        event_id: eventId,
        ...judgement,
        key: null,
        work_item_name: null,
        message: null,
        payload: null,
      };

type Tried = { id: string; read: { event: TriggerEvent } | { invalid: string } };

const sampleId = 'sample';

/** Where a sample would come from, as far as the settings of a trigger say it. */
const placeOf = (settings: object): { type: string | null; source: string } => {
  const { subjects, stream, topic } = settings as {
    subjects?: string[] | null;
    stream?: string;
    topic?: string;
  };
  return { type: subjects?.find((name) => !/[*>]/.test(name)) ?? null, source: stream ?? topic ?? '' };
};

/** Type and subject of an event of the platform: its body has them. */
const platformAttributes = (kind: Kind, body: unknown): Pick<TriggerEvent, 'type' | 'subject'> => {
  const { id: subject, status } = isObject(body) ? body : {};
  if (kind === 'absence') return { type: 'absence', subject: null };
  return {
    type: typeof status === 'string' ? `work_item.${status.toLowerCase()}` : null,
    subject: typeof subject === 'string' ? subject : null,
  };
};

const readSample = (
  kind: Kind,
  settings: WebhookSettings | null,
  others: object,
  sample: { headers: Record<string, string>; body: unknown },
): Tried => {
  const headers = Object.fromEntries(
    Object.entries(sample.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const raw = Buffer.from(typeof sample.body === 'string' ? sample.body : JSON.stringify(sample.body));
  const receivedAt = new Date();
  if (settings) {
    const read = readWebhookEvent(
      settings,
      { headers, body: raw },
      { signedHash: null, receivedAt, occurrenceId: sampleId },
    );
    if (read === null) return { id: sampleId, read: { invalid: 'Batches of CloudEvents are refused.' } };
    const name = read.event.id || sampleId;
    const event = { ...read.event, id: name };
    return { id: name, read: read.invalid === null ? { event } : { invalid: read.invalid } };
  }
  if (kind === 'nats' || kind === 'kafka') {
    const message = {
      ...placeOf(others),
      identity: sampleId,
      eventId: sampleId,
      subject: null,
      time: null,
      headers,
      body: raw,
    };
    const { event, known } = deliveryOf({ id: sampleId, kind }, message, {
      maxBytes: raw.length,
      receivedAt,
    });
    return { id: event.id, read: known?.reason ? { invalid: known.reason } : { event } };
  }
  const content = {
    id: sampleId,
    type: null,
    source: kind,
    subject: null,
    time: null,
    received_at: receivedAt.toISOString(),
    headers,
    raw,
  };
  const read = eventOf(kind, content);
  if ('invalid' in read) return { id: sampleId, read };
  return { id: sampleId, read: { event: { ...read.event, ...platformAttributes(kind, read.event.body) } } };
};

const readKept = async (
  executor: Executor,
  vault: Vault,
  row: TriggerRow,
  names: readonly string[] | undefined,
): Promise<Tried[]> => {
  const kept = await listKept(executor, row.id, {
    names: names ? { ids: names.filter(isId), names } : null,
    limit: mostTried,
  });
  return kept.map(({ id: entryId, event_id, content }) => ({
    id: event_id,
    read:
      content === null
        ? { invalid: 'The body of this event is not kept any more.' }
        : eventOf(row.kind, openContent(vault, entryId, content)),
  }));
};

/** Judges kept events, or a sample, by a definition, and writes nothing. Throws 404 for an unknown trigger, 400 and 422. */
export const tryEvents = async (
  executor: Executor,
  { vault, store, maxPayloadBytes }: { vault: Vault; store: SettingsStore; maxPayloadBytes: number },
  agentId: string,
  body: z.output<typeof tryBody>,
): Promise<Result[]> => {
  const { trigger: given, trigger_id, event_ids, sample } = body;
  let row: TriggerRow | null = null;
  if (trigger_id !== undefined) {
    row = isId(trigger_id)
      ? ((await findTriggerOfAgent(executor, agentId, trigger_id))?.trigger ?? null)
      : null;
    if (!row) throw notFound('trigger');
  }
  if (!given && !row) throw badRequest('trigger: is required, or trigger_id');
  if (!row && !sample) throw badRequest('sample: is required without trigger_id');
  const stored = row && store.open(row);
  if (given) checkTried(given, stored?.kind === 'webhook' ? stored.settings.secret : null);
  const kind = given?.kind ?? row!.kind;
  const fields: ExpressionFields = given ?? row!;
  let settings: WebhookSettings | null = null;
  if (given?.kind === 'webhook') settings = given.settings;
  else if (!given && stored?.kind === 'webhook') settings = stored.settings;
  const tried = [
    ...(sample ? [readSample(kind, settings, (given ?? stored)!.settings, sample)] : []),
    ...(row && (event_ids || !sample) ? await readKept(executor, vault, row, event_ids) : []),
  ];
  const readable = tried.flatMap(({ read }) => ('event' in read ? [read.event] : []));
  const judgements = await judge(readable.map((event) => ({ definition: fields, event, maxPayloadBytes })));
  let next = 0;
  return tried.map(({ id: name, read }) =>
    toResult(name, 'event' in read ? judgements[next++]! : { outcome: 'invalid', reason: read.invalid }),
  );
};
