import { z } from 'zod';
import { id, jsonRoute, queryInteger, type Route, timestamp } from '../../http/index.ts';
import { attentionKinds, severities, subjectTypes } from '../../lib/attention.ts';
import { type Principal, roleAllows, scopesAllow } from '../../lib/principal.ts';
import { statuses } from '../../work-items/index.ts';
import type { OverviewReader, Permitted } from './overview.ts';

const mostHours = 168;

const attention = z
  .object({
    kind: z.enum(attentionKinds),
    severity: z.enum(severities),
    count: z.int().describe('How many things the line stands for.'),
    since: timestamp.nullable(),
    subject: z
      .object({ type: z.enum(subjectTypes), id, name: z.string() })
      .nullable()
      .describe('What it is about, if that is one thing.'),
    title: z.string().describe('What is wrong, in one sentence without a full stop.'),
    detail: z.string().describe('Why, and what that means, in sentences.'),
    filter: z.record(z.string(), z.string()).describe('What the page that its link opens is filtered by.'),
  })
  .meta({ id: 'Attention' });

const status = z.object(
  Object.fromEntries(statuses.map((name) => [name, z.int()])) as Record<(typeof statuses)[number], z.ZodInt>,
);

const workItems = z
  .object({
    by_status: status.describe(
      'What is open, each counted up to 10,000; COMPLETED, ERROR and CANCELLED of these hours.',
    ),
    per_hour: z.array(z.object({ t: timestamp, finished: z.int(), failed: z.int(), tokens: z.int() })),
    oldest_pending_at: timestamp.nullable(),
    slots: z.int().describe('How many Work Items the replicas that are alive can execute at once.'),
  })
  .meta({ id: 'OverviewWorkItems' });

const schedules = z
  .object({
    enabled: z.int(),
    paused: z.int(),
    per_hour: z
      .array(
        z.object({
          t: timestamp,
          on_time: z.int(),
          late: z.int(),
          caught_up: z.int(),
          skipped: z.int(),
          missing: z
            .int()
            .describe(
              'Handled with the cause `missed`: they should have fired. And those due then, not handled yet.',
            ),
          expected: z.int().describe('To come.'),
        }),
      )
      .describe('By the hour in which they were handled; also the next 12 hours.'),
  })
  .meta({ id: 'OverviewSchedules' });

const triggers = z
  .object({
    enabled: z.int().describe('That receive events.'),
    paused: z.int(),
    blocked: z.int().describe('Enabled, but they can receive no events.'),
    per_hour: z.array(
      z.object({
        t: timestamp,
        fired: z.int().describe('Events that started a Work Item.'),
        other: z.int().describe('Events that started none, as the trigger says.'),
        failed: z.int().describe('Events that were invalid or lost.'),
      }),
    ),
  })
  .meta({ id: 'OverviewTriggers' });

const integration = z
  .object({
    id,
    name: z.string().describe('Its description, or its provider.'),
    description: z.string().nullable(),
    provider: z.string(),
    state: z.enum(['delivering', 'retrying', 'paused', 'disabled']),
    delivered: z.int(),
    queued: z.int(),
    dead_lettered: z.int(),
    backlog_age_seconds: z.int(),
    last_error: z.string().nullable(),
    last_error_at: timestamp.nullable(),
    last_success_at: timestamp.nullable(),
  })
  .meta({ id: 'OverviewIntegration' });

const overview = z
  .object({
    now: timestamp,
    attention: z.array(attention).describe('By severity, then by kind, the oldest first.'),
    work_items: workItems.nullable().describe('Null if you may not read Work Items.'),
    schedules,
    triggers: triggers.nullable().describe('Null if you may not read triggers.'),
    integrations: z
      .array(integration)
      .nullable()
      .describe('Null if you may not read integrations, like `spans`.'),
    spans: z
      .object({
        delivered: z.int(),
        queued: z.int(),
        per_hour: z.array(z.object({ t: timestamp, delivered: z.int() })),
      })
      .nullable(),
    costs: z
      .object({
        today: z.int().describe('In nano-USD, like the next two; days and months are those of UTC.'),
        yesterday_same_time: z.int().describe('From the start of yesterday until this time of the day.'),
        month: z.int(),
        unknown_calls: z.int().describe('Calls of this month whose price or usage is not known.'),
      })
      .nullable()
      .meta({ id: 'OverviewCosts' })
      .describe('What calls of models cost. Null if you may not read costs.'),
    setup: z
      .object({
        agent: z.boolean(),
        first_run: z.boolean(),
        schedule: z.boolean(),
        tracing_backend: z.boolean(),
        real_model: z
          .boolean()
          .describe('An LLM configuration of another kind than `mock`, whose test has passed.'),
        team_key: z.boolean(),
      })
      .describe('What the workspace has of what it needs.'),
  })
  .meta({ id: 'Overview' });

/** Returns the parts of the Overview that a principal may see: it joins what other operations show one by one. */
const permittedTo = ({ role, scopes }: Principal): Permitted => {
  const isAdmin = roleAllows(role, 'admin');
  return {
    workItems: scopesAllow(scopes, 'work_items:read'),
    triggers: scopesAllow(scopes, 'triggers:read'),
    agents: scopesAllow(scopes, 'agents:read'),
    integrations: isAdmin && scopesAllow(scopes, 'observability:read'),
    keys: isAdmin && scopesAllow(scopes, 'access:read'),
    audit: isAdmin && scopesAllow(scopes, 'audit:read'),
    costs: roleAllows(role, 'builder') && scopesAllow(scopes, 'costs:read'),
    alerts: scopesAllow(scopes, 'alerts:read'),
    channels: roleAllows(role, 'builder') && scopesAllow(scopes, 'alerts:read'),
    budgetsOfPeople: isAdmin,
  };
};

export const overviewRoutes = (reader: OverviewReader): Route[] => [
  jsonRoute({
    id: 'getOverview',
    role: 'member',
    scope: 'schedules:read',
    base: 'app',
    request: 'GET /overview',
    summary: 'Get the overview',
    description:
      'What needs attention, and the numbers of the last hours. It is computed at most once in two seconds for all who may see the same.',
    query: z.object({ hours: queryInteger(1, mostHours, 24) }),
    cache: ({ now: _, ...content }) => content,
    response: overview,
    handler: ({ principal, query }) => reader.read(permittedTo(principal), query.hours),
  }),
];
