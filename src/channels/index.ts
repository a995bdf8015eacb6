import type { Feature, Services } from '../feature.ts';
import { counter, gauge } from '../lib/metrics.ts';
import { channelAttention } from './attention.ts';
import { createChanges } from './for-workspace.ts';
import { createKinds } from './kinds/index.ts';
import { MessageDelivery } from './messages/delivery.ts';
import { countOverdueMessages } from './messages/store.ts';
import type { Subjects } from './messages/subject.ts';
import { notificationRouteRoutes } from './notification-routes/routes.ts';
import { channelRoutes } from './routes.ts';
import { channelKinds, createSettingsStore } from './settings.ts';
import { type Deciders, SlackDecisions } from './slack-interactions/decide.ts';
import { slackHook } from './slack-interactions/hook.ts';
import { SlackSockets } from './slack-interactions/sockets.ts';
import { createTest } from './try-channel.ts';

export { announcer } from './messages/announcer.ts';
export {
  createBody as routeBody,
  type Recipients as RouteRecipients,
  type RouteFields,
} from './notification-routes/schemas.ts';
export { someStepIsDue } from './notification-routes/store.ts';
export { form as channelForm } from './schemas.ts';

export interface Channels {
  /** Channels, and the routes that name them. */
  features: readonly Feature[];
  /** The lines of the Overview about channels. */
  attention: typeof channelAttention;
  /** What a workspace document does. */
  changes: ReturnType<typeof createChanges>;
}

interface Needs {
  /** What messages are about. */
  subjects: Subjects;
  /** What clicks in Slack do. */
  deciders: Deciders;
  /** Returns the id of this replica. */
  replicaId: () => string;
}

/** Channels: how people are told of reviews and alerts, and where they decide. */
export const createChannels = (services: Services, { subjects, deciders, replicaId }: Needs): Channels => {
  const { db, vault, publicUrl } = services;
  const store = createSettingsStore(vault);
  const kinds = createKinds(services);
  const attempts = counter(
    'agent_platform_channel_attempts_total',
    'Attempts to send a message in a channel',
    ['kind', 'outcome'],
  );
  // A series that appears with 1 shows no increase to an alert: those that are watched begin at 0.
  for (const kind of channelKinds) {
    for (const outcome of ['delivered', 'retried', 'failed'] as const) attempts.inc({ kind, outcome }, 0);
  }
  const overdue = gauge(
    'agent_platform_channel_messages_overdue',
    'Messages in channels that have waited for more than a minute',
    [],
    async (g) => g.set(await db.run(countOverdueMessages).catch(() => Number.NaN)),
  );
  const delivery = new MessageDelivery({
    ...services,
    store,
    kinds,
    subjects,
    onAttempt: (kind, outcome) => attempts.inc({ kind, outcome }),
  });
  const decisions = new SlackDecisions({ ...services, store, subjects, deciders });
  const handle: SlackDecisions['handle'] = (...click) => decisions.handle(...click);
  const sockets = new SlackSockets({ ...services, store, replicaId, handle });
  return {
    attention: channelAttention,
    changes: createChanges(store),
    features: [
      {
        tag: { name: 'Channels', description: 'Where people are told of reviews and alerts, and decide.' },
        routes: channelRoutes({ db, store, publicUrl, test: createTest({ db, store, kinds }) }),
        secrets: store.secrets,
        metrics: [attempts, overdue],
        hooks: [slackHook({ ...services, store, handle })],
        start: async () => {
          delivery.listen();
          sockets.listen();
        },
        loops: [
          {
            role: 'delivery',
            start: () => delivery.loop.start(),
            stop: () => delivery.loop.stop(),
            pass: () => delivery.loop.pass(),
          },
          {
            role: 'delivery',
            start: () => sockets.start(),
            stop: () => sockets.stop(),
            pass: () => sockets.pass(),
          },
        ],
      },
      {
        tag: {
          name: 'Routes',
          description: 'Which channels are told of which reviews and alerts, and when.',
        },
        routes: notificationRouteRoutes({ db, store }),
      },
    ],
  };
};
