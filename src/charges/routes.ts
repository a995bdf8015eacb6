import { z } from 'zod';
import { principalNames } from '../access/index.ts';
import type { Database, Executor } from '../database/index.ts';
import {
  cursorOf,
  givenTime,
  id,
  jsonRoute,
  optionalQueryInteger,
  pageOf,
  pageQuery,
  type Route,
  sortedPage,
  timestamp,
} from '../http/index.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import { buckets, totalTokens } from '../lib/tokens.ts';
import { type Charge, chargeStatuses, purposes } from './charge.ts';
import { type ChargeFilter, listCharges } from './list-store.ts';

/** Persons in charges are for administrators. */
export const seesPeople = ({ role }: Principal): boolean => roleAllows(role, 'admin');

const count = z.int();

export const tokenBuckets = z
  .object({
    ...(Object.fromEntries(buckets.map((name) => [name, count])) as Record<
      (typeof buckets)[number],
      typeof count
    >),
    total: count.describe('The sum of the others.'),
  })
  .meta({ id: 'TokenBuckets' });

const publicCharge = z
  .object({
    id,
    started_at: timestamp,
    duration_ms: count,
    purpose: z.enum(purposes).describe('The reason for the call.'),
    status: z
      .enum(chargeStatuses)
      .describe('`unknown_usage`: the call broke off, or its endpoint reported no usage.'),
    unreconciled: z.boolean().describe('The usage that the endpoint reported contradicts itself.'),
    late: z.boolean().describe('It was written after its run had lost its lease.'),
    agent_id: id.nullable(),
    agent_version: count.nullable(),
    work_item_id: id.nullable(),
    run_id: id.nullable().describe('The run of a conversation.'),
    experiment_id: id.nullable(),
    schedule_id: id.nullable(),
    trigger_id: id.nullable(),
    principal: z
      .object({ kind: z.string(), id: z.string(), name: z.string() })
      .nullable()
      .meta({ id: 'ChargePrincipal' })
      .describe('Who asked for it; null for a person, unless you are an administrator.'),
    llm_id: id.nullable(),
    requested_model: z.string(),
    model: z.string().nullable().describe('As the endpoint reported it.'),
    tokens: tokenBuckets,
    price_id: id.nullable(),
    amount_nano_usd: count.nullable().describe('In nano-USD (1 USD = 1,000,000,000); null if it is unknown.'),
    assumed_nano_usd: count
      .nullable()
      .describe('Reserved by budgets for a call whose usage is unknown; it counts as spent.'),
    trace_id: z.string().nullable(),
    span_id: z.string().nullable(),
  })
  .meta({ id: 'PublicCharge' });

/** Tokens of a row with a column for each bucket. */
export const shownTokens = (row: { [B in (typeof buckets)[number]]: number }) => ({
  ...(Object.fromEntries(buckets.map((name) => [name, row[name]])) as Record<
    (typeof buckets)[number],
    number
  >),
  total: totalTokens(row),
});

const toResponse = (
  charge: Charge,
  names: ReadonlyMap<string, string>,
  withPeople: boolean,
): z.input<typeof publicCharge> => {
  const { principal_kind: kind, principal_id } = charge;
  const who = { kind, id: principal_id, name: names.get(principal_id) ?? principal_id };
  return {
    ...charge,
    principal: kind === 'person' && !withPeople ? null : who,
    tokens: shownTokens(charge),
  };
};

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional();

const time = givenTime.transform((value) => new Date(value)).optional();

/** Filters of charges, as lists and sums have them. */
export const chargeFilter = z.object({
  agent_id: id.optional(),
  agent_version: optionalQueryInteger(1, 2_000_000_000),
  work_item_id: id.optional(),
  run_id: id.optional(),
  experiment_id: id.optional(),
  schedule_id: id.optional(),
  trigger_id: id.optional(),
  llm_id: id.optional(),
  price_id: id.optional(),
  trace_id: z.string().optional(),
  span_id: z.string().optional(),
  model: z.string().optional().describe('As the endpoint reported it, else as it was requested.'),
  principal_id: z.string().optional().describe('A person matches nothing, unless you are an administrator.'),
  purpose: z.enum(purposes).optional(),
  status: z.enum(chargeStatuses).optional(),
  unreconciled: flag,
}) satisfies z.ZodType<ChargeFilter>;

const readNames = (executor: Executor, charges: readonly Charge[]) =>
  principalNames(
    executor,
    charges.map(({ principal_id }) => principal_id),
  );

export const chargeRoutes = (db: Database): Route[] => [
  jsonRoute({
    id: 'listCharges',
    role: 'builder',
    scope: 'costs:read',
    base: 'v2',
    request: 'GET /charges',
    summary: 'List charges',
    description: 'One for each call of a model that was sent, with its tokens and what it cost.',
    query: pageQuery.extend({
      ...chargeFilter.shape,
      from: time.describe('Calls that began at this time or later.'),
      to: time.describe('Calls that began before this time.'),
    }),
    response: pageOf('ChargePage', publicCharge),
    handler: async ({ query, principal }) => {
      const withPeople = seesPeople(principal);
      return db.run(async (executor) => {
        const rows = await listCharges(executor, query, withPeople);
        const names = await readNames(executor, rows);
        return sortedPage(
          rows,
          query.limit,
          (row) => cursorOf(row.id),
          (row) => toResponse(row, names, withPeople),
        );
      });
    },
  }),
];
