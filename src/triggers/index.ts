import type { Executor } from '../database/index.ts';
import type { EventConnections } from '../event-connections/index.ts';
import type { Feature, Services } from '../feature.ts';
import { newId } from '../lib/ids.ts';
import { createBrokers } from './brokers/index.ts';
import { deleteReplacedVersions } from './definition-store.ts';
import { Deliveries } from './deliveries/deliveries.ts';
import type { Delivered, Delivery } from './deliveries/delivery.ts';
import { createTriggerChanges, type TriggerChanges } from './for-workspace.ts';
import { hookRoute } from './hooks.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { triggerListRoutes } from './list/routes.ts';
import { createTriggerMetrics } from './metrics.ts';
import { triggerAttention } from './overview/attention.ts';
import { TriggerNumbers } from './overview/numbers.ts';
import { countEventsOfAgents } from './overview/store.ts';
import { absencesLoop, transitionsLoop } from './platform-events/loop.ts';
import { Refusals } from './refusals.ts';
import { deleteOldBodies, deleteOldCounts, deleteOldEvents, deleteOldKeys } from './retention.ts';
import { triggerRoutes } from './routes.ts';
import { createSettingsStore } from './settings.ts';
import { countBlocked, triggersChannel, updateBlocked } from './store.ts';
import { createView } from './view.ts';

export { listTriggersOfConnection } from './brokers/index.ts';

export { fields as triggerFields } from './fields.ts';
export { type TriggerChanges, triggerDefinition } from './for-workspace.ts';
export { listBlocked as listBlockedTriggers } from './overview/store.ts';

interface Needs {
  connections: EventConnections;
}

export interface Triggers extends Feature {
  /** For the Overview. */
  overview: { attention: typeof triggerAttention; numbers: TriggerNumbers };
  /** For the timeline: the events of agents. */
  countEventsOfAgents: typeof countEventsOfAgents;
  /** What a workspace document does with triggers. */
  changes: TriggerChanges;
  /**
   * Stores deliveries, possibly of several triggers, and starts their Work Items. Resolves after the commit to what became
   * of each, in their order. Throws 503 if the database does not respond or this replica stops: then nothing is
   * known of them, and they are to be delivered again.
   */
  deliver(deliveries: readonly Delivery[]): Promise<Delivered[]>;
  /** Says why a trigger cannot receive events, or null that it can. */
  setBlocked(executor: Executor, id: string, reason: string | null): Promise<void>;
  /** An event of a source was acknowledged, so many seconds after it arrived. */
  onAcknowledged(source: string, seconds: number): void;
}

/** Event triggers: each distinct event becomes at most one Work Item. */
export const createTriggers = (services: Services, { connections }: Needs): Triggers => {
  const { db, log, vault, settings, clock } = services;
  const replicaId = newId();
  const store = createSettingsStore(vault);
  const metrics = createTriggerMetrics(() =>
    db.run((executor) => countBlocked(executor, settings.get().ALLOW_UNSIGNED_WEBHOOKS)),
  );
  const refusals = new Refusals(db, log, replicaId);
  const deliveries = new Deliveries({
    db,
    log,
    vault,
    replicaId,
    limits: () => ({
      maxPayloadBytes: settings.get().MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB * 1024,
      keepsBodies: settings.get().EVENT_BODY_RETENTION_HOURS > 0,
    }),
    onStored: metrics.stored,
  });
  const brokers = createBrokers({
    db,
    log,
    settings,
    store,
    connections,
    deliver: (all) => deliveries.deliverAll(all),
    onAcknowledged: metrics.acknowledged,
  });
  const { readings } = brokers;
  const view = createView(services, store, readings);
  const ledger = { db, vault, settings, store, readings, replicaId };
  const platformLoops = [transitionsLoop(db, log, deliveries), absencesLoop(db, log, deliveries, store)];
  return {
    tag: {
      name: 'Triggers',
      description: 'A trigger creates Work Items for a Worker agent, at most one for each distinct event.',
    },
    routes: [
      ...triggerRoutes(db, { store, connections }, view),
      ...ledgerRoutes(ledger),
      ...triggerListRoutes(services, view),
    ],
    hooks: [
      hookRoute({
        db,
        settings,
        clock,
        store,
        deliveries,
        onRefused: (id, reason) => {
          refusals.count(id, reason);
          metrics.refused(reason);
        },
        onAcknowledged: (seconds) => metrics.acknowledged('webhook', seconds),
      }),
    ],
    secrets: store.secrets,
    retention: [
      (tx, { EVENT_RETENTION_DAYS: days }, limit) => deleteOldEvents(tx, days, limit),
      (tx, { EVENT_BODY_RETENTION_HOURS: hours }, limit) => deleteOldBodies(tx, hours, limit),
      (tx, { EVENT_RETENTION_DAYS: days }, limit) => deleteOldKeys(tx, days, limit),
      (tx, { EVENT_RETENTION_DAYS: days }, limit) => deleteOldCounts(tx, days, limit),
      (tx, { EVENT_RETENTION_DAYS: days }, limit) => deleteReplacedVersions(tx, days, limit),
    ],
    loops: [
      {
        role: 'api',
        start: () => refusals.start(),
        stop: () => refusals.stop(),
        pass: () => refusals.pass(),
      },
      brokers.loop,
      ...platformLoops.map((loop) => ({
        role: 'scheduler' as const,
        start: () => void loop.start(),
        stop: () => loop.stop(),
        pass: () => loop.pass(),
      })),
    ],
    metrics: [...metrics.list, ...brokers.metrics],
    start: async () => {
      await brokers.start();
      db.listen(triggersChannel, () => {
        for (const loop of platformLoops) loop.wake();
      });
    },
    stop: async () => deliveries.stop(),
    overview: { attention: triggerAttention, numbers: new TriggerNumbers() },
    countEventsOfAgents,
    changes: createTriggerChanges({ store, connections }),
    deliver: (all) => deliveries.deliverAll(all),
    setBlocked: updateBlocked,
    onAcknowledged: metrics.acknowledged,
  };
};
