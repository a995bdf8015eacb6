import { z } from 'zod';
import { id, optional, text } from '../http/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import { statuses } from '../work-items/index.ts';
import { type WebhookSettings, webhookSettings } from './webhooks/index.ts';

export const kinds = ['webhook', 'nats', 'kafka', 'work_item', 'absence'] as const;
export type Kind = (typeof kinds)[number];

const secret = optional(z.string()).describe(
  'At least 16 characters. Left out, it is generated and returned once. Slack and Stripe make it themselves.',
);

const [plain, hmac, bearer] = webhookSettings.options;
/** A scheme that has nothing to set but its secret. */
const plainOf = <S extends z.output<typeof plain>['scheme']>(scheme: S) =>
  plain.extend({ scheme: z.literal(scheme), secret });
const webhook = z.discriminatedUnion('scheme', [
  plainOf('standard_webhooks'),
  plainOf('github'),
  plainOf('gitlab'),
  plainOf('slack'),
  plainOf('stripe'),
  plainOf('none'),
  hmac.extend({ secret }),
  bearer.extend({ secret }),
]);

const nats = z.object({
  connection_id: id,
  stream: text(255, 1),
  subjects: optional(z.array(text(500, 1)).min(1).max(10, 'must have at most 10 subjects'), null),
  start: optional(z.enum(['new', 'all']), 'new' as const),
  durable_name: optional(text(255, 1), null).describe(
    'An existing consumer. Left out, the trigger has its own.',
  ),
});

const kafka = z.object({
  connection_id: id,
  topic: text(249, 1),
  group_id: optional(text(255, 1), null).describe('Left out, the trigger has its own.'),
  start: optional(z.enum(['latest', 'earliest']), 'latest' as const),
});

/** A draft has had no status that anyone could wait for. */
const watchedStatuses = statuses.filter((status) => status !== 'DRAFT');

const workItem = z.object({
  agent_id: optional(id, null).describe('Whose Work Items. null: of all agents.'),
  statuses: z
    .array(z.enum(watchedStatuses))
    .min(1)
    .transform((given) => [...new Set(given)])
    .describe('An event for each change to one of these.'),
});

const absence = z.object({
  trigger_id: optional(id, null).describe('The trigger that is watched. Required, or `agent_id`.'),
  agent_id: optional(id, null).describe('The agent whose COMPLETED Work Items are watched.'),
  window_seconds: z.int().min(60).max(604_800),
  repeat: optional(z.boolean(), false).describe('Once a window, and not once until something is seen again.'),
});

export const givenSettings = { webhook, nats, kafka, work_item: workItem, absence };

export type Given = {
  [K in Kind]: { kind: K; settings: z.output<(typeof givenSettings)[K]> };
}[Kind];

/** The secrets of a webhook. Both are valid until the time in the row at which the previous one ends. */
interface Secrets {
  secret: string | null;
  previous_secret: string | null;
}

export interface SettingsOf {
  webhook: WebhookSettings & Secrets;
  nats: z.output<typeof nats>;
  kafka: z.output<typeof kafka>;
  work_item: z.output<typeof workItem>;
  absence: z.output<typeof absence>;
}

/** A kind with its settings, as they are stored. */
export type Configured = { [K in Kind]: { kind: K; settings: SettingsOf[K] } }[Kind];

/** The settings as the API shows them: without secrets. What a kind does not have is left out. */
export const shownSettings = z
  .object({
    scheme: z.enum(['standard_webhooks', 'github', 'gitlab', 'slack', 'stripe', 'hmac', 'bearer', 'none']),
    hmac: z.object({
      header: z.string(),
      algorithm: z.string(),
      encoding: z.string(),
      prefix: z.string(),
      timestamp_header: z.string().optional(),
      separator: z.string(),
    }),
    bearer: z.object({ header: z.string() }),
    connection_id: z.string(),
    stream: z.string(),
    subjects: z.array(z.string()).nullable(),
    durable_name: z.string().nullable(),
    topic: z.string(),
    group_id: z.string().nullable(),
    start: z.string(),
    agent_id: z.string().nullable(),
    statuses: z.array(z.string()),
    trigger_id: z.string().nullable(),
    window_seconds: z.int(),
    repeat: z.boolean(),
  })
  .partial()
  .meta({ id: 'TriggerSettings' });

export type ShownSettings = z.input<typeof shownSettings>;

const plainNames = Object.keys(shownSettings.shape);

export const publicSettings = (settings: object): ShownSettings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => plainNames.includes(name)));

export const createSettingsStore = (vault: Vault) => {
  const sealed = new SealedSettings<Configured['settings']>(vault, 'triggers', plainNames);
  return {
    secrets: [sealed.column],
    seal: (rowId: string, { settings }: Configured): string => sealed.seal(rowId, settings),
    open: ({ kind, ...row }: { id: string; kind: Kind; settings: string }): Configured =>
      ({ kind, settings: sealed.open(row) }) as Configured,
    /** The settings for the audit log. */
    masked: ({ settings }: Configured): Record<string, unknown> => sealed.masked(settings),
  };
};

export type SettingsStore = ReturnType<typeof createSettingsStore>;

/** The columns that statements need of the settings. */
export const columnsOf = (given: Configured) => {
  const none = {
    scheme: null,
    connection_id: null,
    watched_agent_id: null,
    watched_trigger_id: null,
    watched_statuses: null,
  };
  const { kind, settings } = given;
  switch (kind) {
    case 'webhook':
      return { ...none, scheme: settings.scheme };
    case 'nats':
    case 'kafka':
      return { ...none, connection_id: settings.connection_id };
    case 'work_item':
      return {
        ...none,
        watched_agent_id: settings.agent_id,
        watched_statuses: settings.statuses as string[],
      };
    case 'absence':
      return { ...none, watched_agent_id: settings.agent_id, watched_trigger_id: settings.trigger_id };
  }
};

/** The settings that never change, by their names. */
export const fixedSettings = [
  'scheme',
  'connection_id',
  'stream',
  'topic',
  'durable_name',
  'group_id',
] as const;
