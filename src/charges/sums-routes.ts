import { isZoneName } from '@agent-platform/cron';
import { z } from 'zod';
import { principalNames } from '../access/index.ts';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import { givenTime, jsonRoute, queryList, type Route, streamRoute, timestamp } from '../http/index.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import { buckets, noTokens } from '../lib/tokens.ts';
import { mostNanoUsd } from '../prices/index.ts';
import { chargeFilter, seesPeople, shownTokens, tokenBuckets } from './routes.ts';
import {
  type CostGroup,
  type CostSum,
  type Grouping,
  groupCharges,
  groupings,
  sumCharges,
} from './sums-store.ts';

const day = 86_400_000;
const defaultDays = 30;
const mostDays = 400;
const mostGroups = 10_000;

const count = z.int();
const sum = {
  cost_nano_usd: count.describe(
    'In nano-USD (1 USD = 1,000,000,000), without calls whose amount is unknown.',
  ),
  calls: count,
  unknown_calls: count.describe('Calls whose price or usage is not known.'),
  unreconciled_calls: count.describe('Calls whose reported usage contradicts itself.'),
  tokens: tokenBuckets,
};

const named = z.partialRecord(z.enum(groupings), z.string().nullable());

const costs = z
  .object({
    from: timestamp,
    to: timestamp,
    timezone: z.string(),
    total: z.object(sum).meta({ id: 'CostSum' }),
    groups: z.array(
      z
        .object({
          key: named.describe('By the fields of `group_by`; null for calls without one.'),
          names: named.describe('The same with names; null if the thing is gone.'),
          ...sum,
        })
        .meta({ id: 'CostGroup' }),
    ),
    truncated: z.boolean().describe('There are more than 10,000 groups: these are the dearest.'),
  })
  .meta({ id: 'Costs' });

const time = givenTime.optional();

const groupBy = queryList(z.enum(groupings), 2)
  .refine((names) => names.length > 0 && new Set(names).size === names.length, 'must name different things')
  .default(['day']);

const costQuery = z.object({
  ...chargeFilter.shape,
  from: time.describe('Calls that began at this time or later; 30 days before `to` if it is left out.'),
  to: time.describe('Calls that began before this time; now if it is left out.'),
  timezone: z
    .string()
    .default('UTC')
    .refine(isZoneName, 'must be the IANA name of a time zone, such as Europe/Berlin')
    .describe('IANA name of the time zone of days.'),
  group_by: groupBy.describe(
    `One or two of ${groupings.join(', ')}, separated by a comma. \`person\` requires admin.`,
  ),
});

type CostQuery = z.output<typeof costQuery>;

/** The span that is asked for. Throws 422. */
const spanOf = ({ from, to }: CostQuery, now: number): { from: Date; to: Date } => {
  const end = to ?? now;
  const begin = from ?? end - defaultDays * day;
  if (begin > end) throw unprocessable([{ path: 'from', message: 'must not be after `to`' }]);
  if (end - begin > mostDays * day) {
    throw unprocessable([{ path: 'from', message: `must be at most ${mostDays} days before \`to\`` }]);
  }
  return { from: new Date(begin), to: new Date(end) };
};

const shownSum = ({ cost_nano_usd, calls, unknown_calls, unreconciled_calls, ...row }: CostSum) => ({
  cost_nano_usd,
  calls,
  unknown_calls,
  unreconciled_calls,
  tokens: shownTokens(row),
});

const noSum: CostSum = { ...noTokens, cost_nano_usd: 0, calls: 0, unknown_calls: 0, unreconciled_calls: 0 };
const summed = Object.keys(noSum) as (keyof CostSum)[];

const sumOf = (groups: readonly CostSum[]): CostSum => {
  const total = { ...noSum };
  for (const group of groups)
    for (const name of summed) total[name] = Math.min(total[name] + group[name], mostNanoUsd);
  return total;
};

interface CostParts {
  db: Database;
  clock: Clock;
}

/** The sums that a query asks for. Throws 422, and 403 if it groups by person and the caller may not. */
const readCosts = async (
  { db, clock }: CostParts,
  query: CostQuery,
  principal: Principal,
): Promise<z.input<typeof costs>> => {
  const { group_by, timezone, from: _from, to: _to, ...filters } = query;
  const withPeople = seesPeople(principal);
  if (group_by.includes('person') && !withPeople) {
    throw new ApiError('forbidden', 'Costs by person are for administrators.');
  }
  const span = spanOf(query, clock.now());
  const filter = { ...filters, ...span };
  return db.run(async (executor) => {
    const found = await groupCharges(
      executor,
      { filter, groupBy: group_by, timezone },
      withPeople,
      mostGroups,
    );
    const groups = found.slice(0, mostGroups);
    const truncated = found.length > mostGroups;
    // The sum of all groups is that of all charges.
    const total = truncated ? await sumCharges(executor, filter, withPeople) : sumOf(groups);
    const people = (names: Grouping) => names === 'person' || names === 'api_key';
    const ids = groups.flatMap(({ keys }) => keys.filter((key, i) => key !== null && people(group_by[i]!)));
    const principals = await principalNames(executor, ids as string[]);
    const byField = (values: readonly (string | null)[]) =>
      Object.fromEntries(group_by.map((name, i) => [name, values[i] ?? null]));
    const nameOf = ({ keys, names }: CostGroup, i: number): string | null =>
      people(group_by[i]!) && keys[i] !== null ? (principals.get(keys[i]!) ?? null) : names[i]!;
    return {
      ...span,
      timezone,
      total: shownSum(total),
      groups: groups.map((group) => ({
        key: byField(group.keys),
        names: byField(group.keys.map((_, i) => nameOf(group, i))),
        ...shownSum(group),
      })),
      truncated,
    };
  });
};

/** One cell of CSV. A spreadsheet would take one that begins so for a formula. */
const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Nano-USD as USD with all nine decimals. */
const usd = (nano: number): string => {
  const digits = String(nano).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
};

function* csvLines(groupBy: readonly Grouping[], { groups }: z.input<typeof costs>): Generator<string> {
  const tokens = [...buckets, 'total'] as const;
  const line = (cells: readonly (string | number)[]) => `${cells.map(cell).join(',')}\r\n`;
  yield line([
    ...groupBy.flatMap((name) => [name, `${name}_name`]),
    'cost_usd',
    'calls',
    'unknown_calls',
    'unreconciled_calls',
    ...tokens.map((name) => `${name}_tokens`),
  ]);
  for (const { key, names, ...group } of groups) {
    yield line([
      ...groupBy.flatMap((name) => [key[name] ?? '', names[name] ?? '']),
      usd(group.cost_nano_usd),
      group.calls,
      group.unknown_calls,
      group.unreconciled_calls,
      ...tokens.map((name) => group.tokens[name]),
    ]);
  }
}

export const costRoutes = (parts: CostParts): Route[] => [
  jsonRoute({
    id: 'getCosts',
    role: 'builder',
    scope: 'costs:read',
    base: 'v2',
    request: 'GET /costs',
    summary: 'Get costs',
    description: 'What calls of models cost, summed up by one or two things, the dearest first.',
    query: costQuery,
    response: costs,
    handler: ({ query, principal }) => readCosts(parts, query, principal),
  }),
  streamRoute({
    id: 'exportCosts',
    role: 'builder',
    scope: 'costs:read',
    base: 'v2',
    request: 'GET /costs/export',
    summary: 'Export costs',
    description: 'The groups of `GET /costs` as CSV, in USD.',
    query: costQuery,
    type: 'text/csv; charset=utf-8',
    saveAs: 'costs.csv',
    handler: async ({ query, principal, actor, transaction }) => {
      const found = await readCosts(parts, query, principal);
      const { from, to, timezone, group_by, ...filters } = query;
      await transaction((tx) =>
        audit(tx, actor, 'costs.export', null, {
          from: found.from,
          to: found.to,
          timezone,
          group_by,
          filters,
        }),
      );
      return (async function* () {
        yield* csvLines(group_by, found);
      })();
    },
  }),
];
