import { z } from 'zod';
import type { Services } from '../../feature.ts';
import { givenTime, id, jsonRoute, limit, type Route, text } from '../../http/index.ts';
import { ApiError, badRequest, notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { openContent, textOf } from '../deliveries/content.ts';
import { onePath, path, reads, triggerFinder, workerFinder, writes } from '../routes.ts';
import type { SettingsStore } from '../settings.ts';
import type { TriggerRow } from '../store.ts';
import { lockTrigger } from '../triggers.ts';
import type { Readings } from '../view.ts';
import { pageOfEvents, toEntries } from './entries.ts';
import { type ExplainContext, explainEvent, explainMoment } from './explain.ts';
import { type Redelivered, redeliver } from './redeliver.ts';
import { entryDetail, eventPage, eventsQuery, explanation, versionPage } from './schemas.ts';
import { findEvent } from './store.ts';
import { tryBody, tryEvents, tryResponse } from './try.ts';
import { pageOfVersions } from './versions.ts';

export interface LedgerParts extends Pick<Services, 'db' | 'vault' | 'settings'> {
  store: SettingsStore;
  readings: Readings;
  replicaId: string;
}

const redeliverBody = z
  .object({ ids: z.array(z.string()).min(1).max(100, 'must have at most 100 items') })
  .meta({ id: 'RedeliverEventsBody' });

const partError = z.looseObject({ error_id: z.string(), code: z.string(), message: z.string() });

const redeliverResponse = z
  .object({
    results: z.array(
      z.union([
        z.object({ id: z.string(), occurrence_id: id, work_item_id: id }),
        z.object({ id: z.string(), error: partError }),
      ]),
    ),
  })
  .meta({ id: 'RedeliveredEvents' });

/** The ledger of a trigger, for the application. */
export const ledgerRoutes = ({ db, vault, settings, store, readings, replicaId }: LedgerParts): Route[] => {
  const find = triggerFinder(db);
  const maxPayloadBytes = () => settings.get().MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB * 1024;

  const findEntry = async (request: { params: Record<string, string> }) => {
    const trigger = await find(request);
    const occurrenceId = request.params.occurrence_id!;
    const row = isId(occurrenceId)
      ? await db.run((executor) => findEvent(executor, trigger.id, occurrenceId))
      : undefined;
    if (!row) throw notFound('event');
    return { trigger, row };
  };

  const explainContext = async ({ id: triggerId, kind }: TriggerRow): Promise<ExplainContext> => {
    const isRead = kind === 'nats' || kind === 'kafka';
    const reading = isRead ? ((await readings([triggerId])).get(triggerId) ?? null) : null;
    return { allowUnsigned: settings.get().ALLOW_UNSIGNED_WEBHOOKS, reading };
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listTriggerEvents',
      base: 'app',
      request: `GET ${onePath}/events`,
      summary: 'List events',
      description: 'What became of each event of a trigger and why, the latest first.',
      otherStatuses: [400],
      find,
      query: eventsQuery,
      response: eventPage,
      handler: ({ found, query }) => db.run((executor) => pageOfEvents(executor, found, query)),
    }),
    jsonRoute({
      ...writes,
      id: 'getTriggerEvent',
      base: 'app',
      request: `GET ${onePath}/events/{occurrence_id}`,
      summary: 'Get an event',
      description: 'With its headers and its body, while they are kept.',
      otherStatuses: [400],
      find: findEntry,
      response: entryDetail,
      handler: async ({ found: { trigger, row } }) => {
        const { content: sealed, depth: _, ...event } = row;
        const content = sealed === null ? null : openContent(vault, row.id, sealed);
        const [entry] = await db.run((executor) => toEntries(executor, [{ ...event, kind: trigger.kind }]));
        return { ...entry!, headers: content?.headers ?? null, body: content && textOf(content) };
      },
    }),
    jsonRoute({
      ...writes,
      id: 'redeliverTriggerEvents',
      base: 'app',
      request: `POST ${onePath}/events/redeliver`,
      summary: 'Redeliver events',
      description:
        'Makes another Work Item of each, of its kept body by the present mapping. Pause, filter, dedup and limit are not judged.',
      find,
      body: redeliverBody,
      response: redeliverResponse,
      idempotent: true,
      handler: ({ found, body, actor, transaction, failureOf }) =>
        transaction(async (tx) => {
          const trigger = await lockTrigger(tx, found.id);
          const parts = { vault, maxPayloadBytes: maxPayloadBytes(), replicaId };
          const results: (Redelivered | { id: string; error: ReturnType<typeof failureOf> })[] = [];
          for (const one of body.ids) {
            try {
              results.push(await redeliver(tx, actor, trigger, one, parts));
            } catch (error) {
              if (!(error instanceof ApiError)) throw error;
              results.push({ id: one, error: failureOf(error) });
            }
          }
          return { results };
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'explainTrigger',
      base: 'app',
      request: `GET ${onePath}/explain`,
      summary: 'Explain an event or a moment of a trigger',
      description: 'Says what became of an event and why, or what came in a minute. Requires one of the two.',
      otherStatuses: [400],
      find,
      query: z.object({
        event_id: text(500, 1)
          .optional()
          .describe(
            "The sender's name for the event, the id of its entry, a sequence of NATS, or `partition/offset` of Kafka.",
          ),
        at: givenTime.optional().describe('Any time of the minute.'),
      }),
      response: explanation,
      handler: async ({ found, query: { event_id, at } }) => {
        if ((event_id === undefined) === (at === undefined)) {
          throw badRequest('Give `event_id` or `at`: one of the two.');
        }
        const context = await explainContext(found);
        return db.run((executor) =>
          event_id === undefined
            ? explainMoment(executor, found, at!, context)
            : explainEvent(executor, found, event_id, context),
        );
      },
    }),
    jsonRoute({
      ...reads,
      id: 'listTriggerVersions',
      base: 'app',
      request: `GET ${onePath}/history`,
      summary: 'List the versions of a trigger',
      description: 'What its definition was, who changed or paused it, when and why, newest first.',
      otherStatuses: [400],
      find,
      query: z.object({
        limit,
        next: z.string().optional().describe('The `next` of the page before, unchanged.'),
      }),
      response: versionPage,
      handler: ({ found, query }) => db.run((executor) => pageOfVersions(executor, found.id, query)),
    }),
    jsonRoute({
      ...writes,
      id: 'tryTrigger',
      base: 'app',
      request: `POST ${path}/try`,
      summary: 'Try a trigger',
      description:
        'Says what a definition would make of kept events, or of a sample. Writes nothing, and checks no signature.',
      find: workerFinder(db),
      body: tryBody,
      response: tryResponse,
      handler: async ({ found, body }) => ({
        results: await db.run((executor) =>
          tryEvents(executor, { vault, store, maxPayloadBytes: maxPayloadBytes() }, found.id, body),
        ),
      }),
    }),
  ];
};
