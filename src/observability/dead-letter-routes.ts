import { audit } from '../audit/index.ts';
import { notify } from '../database/index.ts';
import { type JsonContext, jsonRoute, type Route } from '../http/index.ts';
import { messageOf, unprocessable } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Telemetry } from '../telemetry/index.ts';
import type { IntegrationParts } from './integration-routes.ts';
import { integrationPath } from './public-routes.ts';
import { deadLetterIds, deadLetterPage, deadLetterQuery, purgeResult, retryResult } from './schemas.ts';
import type { IntegrationRow } from './store.ts';

const writes = { role: 'admin', scope: 'observability', base: 'app' } as const;

/** The channel that notifies replicas of requests to retry or purge dead letters. */
export const deadLetterChannel = 'observability_dead_letters';

/** The most milliseconds of a request to retry. The response says how many are left for the next request. */
const retryWithinMs = 20_000;

export interface DeadLetterTelemetry {
  /** The name of this replica's telemetry log. */
  readonly replicaId: string;
  readonly deadLetters: Telemetry['path']['deadLetters'];
}

/** A notification on the channel. With 100 ids it is well under the limit of 8,000 bytes. */
interface DeadLetterRequest {
  action: 'retry' | 'purge';
  number: number;
  /** The replica that received the request. It does its own part itself. */
  from: string;
  ids?: readonly string[];
}

/** Splits an id of the API into the replica that holds the dead letter and the id there. */
const split = (id: string): [replica: string, letter: string] => {
  const at = id.lastIndexOf('.');
  return [id.slice(0, at).toLowerCase(), id.slice(at + 1)];
};

/** Returns the ids of the dead letters that `replicaId` holds; undefined means all. */
const heldBy = (replicaId: string, ids: readonly string[] | undefined): string[] | undefined =>
  ids?.map(split).flatMap(([replica, letter]) => (replica === replicaId ? [letter] : []));

/**
 * Makes the listener of the channel: it does what another replica was requested to do, with the dead letters held here.
 */
export const deadLetterListener =
  (log: Logger, telemetry: DeadLetterTelemetry) =>
  (payload: string | null): void => {
    if (!payload) return;
    const { action, number, from, ids } = JSON.parse(payload) as DeadLetterRequest;
    const { replicaId, deadLetters } = telemetry;
    const own = heldBy(replicaId, ids);
    if (from === replicaId || own?.length === 0) return;
    const done: Promise<unknown> =
      action === 'purge' ? deadLetters.purge(number, own) : deadLetters.retry(number, own, retryWithinMs);
    done.catch((error) =>
      log.error({ integration: number, error: messageOf(error) }, `dead letters: ${action} failed`),
    );
  };

/** Dead letters. Each replica holds the dead letters of the spans that it accepted. */
export const deadLetterRoutes = ({
  db,
  integrations,
  telemetry,
}: Pick<IntegrationParts, 'db' | 'integrations'> & {
  telemetry: DeadLetterTelemetry;
}): Route[] => {
  const path = `${integrationPath}/dead-letters`;
  const { find } = integrations;
  const countOnOthers = (number: number) => telemetry.deadLetters.countElsewhere(number);
  /**
   * Audits the request and notifies the other replicas of it. Returns the ids that are held here; undefined means all.
   */
  const announce = async (
    action: 'retry' | 'purge',
    { found, body, actor }: JsonContext<IntegrationRow, unknown, { ids?: string[] }>,
  ): Promise<string[] | undefined> => {
    const { ids } = body;
    const { replicaId } = telemetry;
    await db.tx(async (tx) => {
      await audit(tx, actor, `integration.dead_letters_${action}`, found.id, ids ? { ids } : {});
      const request: DeadLetterRequest = { action, number: found.number, from: replicaId, ids };
      await notify(tx, deadLetterChannel, JSON.stringify(request));
    });
    return heldBy(replicaId, ids);
  };
  return [
    jsonRoute({
      id: 'listDeadLetters',
      role: 'admin',
      scope: 'observability:read',
      base: 'app',
      request: `GET ${path}`,
      summary: 'List dead letters',
      description:
        'Returns a page of the spans that the backend refused and that this replica holds, oldest first. `on_other_replicas` is the number of the others; each replica lists its own. `total` counts all.',
      find,
      query: deadLetterQuery,
      response: deadLetterPage,
      handler: async ({ found, query: { limit, next } }) => {
        const { replicaId, deadLetters } = telemetry;
        const after = next ? Buffer.from(next, 'base64url').toString() : undefined;
        if (after !== undefined && (split(after)[0] !== replicaId || !/^\d{16}$/.test(split(after)[1]))) {
          throw unprocessable([
            { path: 'next', message: 'is not the `next` of an earlier page of this replica' },
          ]);
        }
        const letters = await deadLetters.list(found.number, {
          limit: limit + 1,
          ...(after === undefined ? {} : { after: split(after)[1] }),
        });
        const data = letters
          .slice(0, limit)
          .map((letter) => ({ ...letter, id: `${replicaId}.${letter.id}` }));
        const more = letters.length > limit;
        const on_other_replicas = await countOnOthers(found.number);
        return {
          data,
          has_more: more,
          next: more ? Buffer.from(data.at(-1)!.id).toString('base64url') : '',
          replica_id: replicaId,
          on_other_replicas,
          total: (await deadLetters.count(found.number)) + on_other_replicas,
        };
      },
    }),
    jsonRoute({
      ...writes,
      id: 'retryDeadLetters',
      request: `POST ${path}/retry`,
      summary: 'Retry dead letters',
      description:
        'Retries all or some. The response is about those that this replica holds, and is sent within 20 s. The other replicas retry theirs at the same time; the health shows the result.',
      find,
      body: { schema: deadLetterIds, optional: true },
      response: retryResult,
      handler: async (context) => {
        const { replicaId, deadLetters } = telemetry;
        const on_other_replicas = await countOnOthers(context.found.number);
        const own = await announce('retry', context);
        const result = await deadLetters.retry(context.found.number, own, retryWithinMs);
        return { ...result, replica_id: replicaId, on_other_replicas };
      },
    }),
    jsonRoute({
      ...writes,
      id: 'purgeDeadLetters',
      request: `POST ${path}/purge`,
      summary: 'Purge dead letters',
      description:
        'Purges all or some; they count as discarded. The response is about those that this replica holds. The other replicas purge theirs at the same time; the health shows the result.',
      find,
      body: { schema: deadLetterIds, optional: true },
      response: purgeResult,
      handler: async (context) => {
        const { replicaId, deadLetters } = telemetry;
        const on_other_replicas = await countOnOthers(context.found.number);
        const own = await announce('purge', context);
        const discarded = await deadLetters.purge(context.found.number, own);
        return { discarded, replica_id: replicaId, on_other_replicas };
      },
    }),
  ];
};
