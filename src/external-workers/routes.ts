import type { Charges, NewCharge } from '../charges/index.ts';
import type { Tx } from '../database/index.ts';
import { finder, type JsonContext, jsonRoute, type Route } from '../http/index.ts';
import { noUsage } from '../lib/usage.ts';
import { publicWorkItem, toWorkItemResponse, type WorkItem, workItemCalls } from '../work-items/index.ts';
import { type ClaimParts, checkAgents, claimRecords, notForExternalWorkers } from './claims.ts';
import { beat, finishLease, type Noted, throwIfRefused } from './leases.ts';
import { claimBody, claims, finishBody, type HeartbeatBody, heartbeatBody, leaseState } from './schemas.ts';
import { isForPlatform } from './store.ts';

const path = '/work-items/{work_item_id}';

export interface ExternalWorkerNeeds {
  /** Makes the charges of a report. */
  charges: Charges['ofExternalWorker'];
  /** A run ended with this status of its Work Item. */
  onFinished(status: WorkItem['status']): void;
}

export const externalWorkerRoutes = (
  parts: ClaimParts,
  { charges, onFinished }: ExternalWorkerNeeds,
): Route[] => {
  const { db } = parts;
  const findItem = finder(db, 'Work Item', 'work_item_id', workItemCalls.find);
  const find: typeof findItem = async (request) => {
    const item = await findItem(request);
    if (await db.run((executor) => isForPlatform(executor, item.id))) {
      throw notForExternalWorkers(item.agent_id);
    }
    return item;
  };
  /** Runs `fn` in the transaction of the request, and counts what it notes once that is committed. */
  const counting = async <T>(
    transaction: JsonContext['transaction'],
    fn: (tx: Tx, noted: Noted) => Promise<T>,
  ): Promise<T> => {
    let status: WorkItem['status'] | null = null;
    let charges: readonly NewCharge[] = [];
    const noted: Noted = {
      ended: (now) => {
        status = now;
      },
      charged: (written) => {
        charges = written;
      },
    };
    const result = await transaction((tx) => {
      // A transaction that failed is run again.
      [status, charges] = [null, []];
      return fn(tx, noted);
    });
    for (const { settled } of charges) settled();
    if (status !== null) onFinished(status);
    return result;
  };
  const chargesOf = (item: WorkItem, body: Pick<HeartbeatBody, 'charges' | 'usage'>) => {
    const usage = { ...noUsage, ...body.usage };
    const isUsage = body.charges.length === 0 && usage.input_tokens + usage.output_tokens > 0;
    return charges(item, { charges: body.charges, usage: isUsage ? usage : null });
  };
  const shared = { role: 'builder', scope: 'work_items', base: 'v2' } as const;
  return [
    jsonRoute({
      ...shared,
      id: 'claimWorkItems',
      request: 'POST /work-items/claim',
      summary: 'Claim Work Items',
      description:
        'The oldest that wait, for an external worker. If there is none it waits for `wait_seconds` and then returns no records. When the caller closes the connection nothing is claimed.',
      otherStatuses: [404],
      body: {
        schema: claimBody,
        precheck: ({ agent_ids }) => db.run((executor) => checkAgents(executor, agent_ids)),
      },
      response: claims,
      handler: async ({ body, principal, signal, checkAccess }) => ({
        records: await claimRecords(parts, { principal, signal, checkAccess }, body),
      }),
    }),
    jsonRoute({
      ...shared,
      id: 'heartbeatWorkItem',
      request: `POST ${path}/heartbeat`,
      summary: 'Extend the lease of a Work Item',
      description: 'Also stores messages and usage. Returns 412 if the lease was lost: stop working on it.',
      find,
      otherStatuses: [412],
      body: heartbeatBody,
      response: leaseState,
      handler: async ({ found, body, transaction }) => {
        const made = await chargesOf(found, body);
        const state = await counting(transaction, (tx, noted) => beat(tx, found.id, body, made, noted));
        return throwIfRefused(state, () => db.run((executor) => workItemCalls.get(executor, found.id)));
      },
    }),
    jsonRoute({
      ...shared,
      id: 'finishWorkItem',
      request: `POST ${path}/finish`,
      summary: 'Finish a claimed Work Item',
      description:
        'Ends the lease. The same request again changes nothing. Returns 412 if the lease was lost; the result is then only recorded in the history.',
      find,
      otherStatuses: [412],
      body: finishBody,
      response: publicWorkItem,
      handler: async ({ found, body, transaction, principal }) => {
        const made = await chargesOf(found, body);
        const finished = await counting(transaction, (tx, noted) =>
          finishLease(tx, principal, found, body, made, noted),
        );
        return toWorkItemResponse(
          await throwIfRefused(finished, () => db.run((executor) => workItemCalls.get(executor, found.id))),
        );
      },
    }),
  ];
};
