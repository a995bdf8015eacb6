import type { Feature, Services } from '../feature.ts';
import { createEgress } from '../lib/egress.ts';
import { createMembersFilter } from '../lib/egress-addresses.ts';
import { counter, gauge } from '../lib/metrics.ts';
import { type CallbackStore, createCallbackStore } from './callbacks.ts';
import { createCallbackDelivery } from './delivery.ts';
import { callbackRoutes, type FindWorkItem } from './routes.ts';
import { signingSecret, webhookHeaders, webhookUrl } from './schemas.ts';
import { countOverdueDeliveries, deleteRemovedCallbacks } from './store.ts';

export { type Callback, type CallbackStore, checkChangedCallbacks, defaultEvents } from './callbacks.ts';
export { changedCallbacks, newCallbacks, publicCallback } from './schemas.ts';
export { newSigningSecret, signedHeaders } from './signature.ts';
export { deliveryInsertion, hasCallbacks, recordDeliveries } from './store.ts';

/** Fields of an address that gets signed requests. */
export const webhookFields = { secret: signingSecret, headers: webhookHeaders, url: webhookUrl };

export interface Callbacks extends Feature {
  store: CallbackStore;
  /** Work Items have callbacks: the routes find them with this. */
  usedBy(workItems: { find: FindWorkItem }): void;
}

/** Callbacks: signed requests to a user's own address when a Work Item has a new status. */
export const createCallbacks = (services: Services): Callbacks => {
  const { config, db, vault } = services;
  let workItems: { find: FindWorkItem } | null = null;
  const permits = createMembersFilter(config.egress.membersAllow);
  const store = createCallbackStore(vault, permits);
  const membersEgress = createEgress({
    deny: config.egress.deny ?? undefined,
    allow: config.egress.allow,
    proxies: config.proxies,
    narrower: { permits, variable: 'EGRESS_MEMBERS_ALLOW' },
  });
  const attempts = counter('agent_platform_callback_attempts_total', 'Attempts to deliver a callback', [
    'outcome',
  ]);
  // A series that appears with 1 shows no increase to an alert: those that are watched begin at 0.
  for (const outcome of ['delivered', 'retried', 'failed', 'gone'] as const) attempts.inc({ outcome }, 0);
  const overdue = gauge(
    'agent_platform_callbacks_overdue',
    'Callback deliveries that have been due for more than a minute',
    [],
    async (g) => g.set(await db.run(countOverdueDeliveries).catch(() => Number.NaN)),
  );
  const delivery = createCallbackDelivery({
    ...services,
    membersEgress,
    sealed: store.sealed,
    onAttempt: (outcome) => attempts.inc({ outcome }),
  });
  return {
    tag: { name: 'Callbacks', description: 'What was sent to the callbacks of Work Items and agents.' },
    routes: callbackRoutes(db, (executor, id) => workItems!.find(executor, id)),
    secrets: [store.sealed.column],
    metrics: [attempts, overdue],
    retention: [(tx, _settings, limit) => deleteRemovedCallbacks(tx, limit)],
    start: async () => delivery.listen(),
    stop: () => membersEgress.close(),
    loops: [
      {
        role: 'delivery',
        start: () => delivery.loop.start(),
        stop: () => delivery.loop.stop(),
        pass: () => delivery.loop.pass(),
      },
    ],
    store,
    usedBy: (user) => {
      workItems = user;
    },
  };
};
