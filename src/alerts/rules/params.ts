import { z } from 'zod';
import { optional } from '../../http/index.ts';
import { type Fault, unprocessable } from '../../lib/errors.ts';
import { withoutUndefined } from '../../lib/objects.ts';
import { showPath } from '../../lib/text.ts';
import type { AlertKind } from '../kinds.ts';

/** The parameters of the rules of each kind. */

const count = (least: number, most: number) => z.int().min(least).max(most);
const minutes = (most: number, fallback: number) => optional(count(1, most), fallback);
const mostMinutes = 10_080;

const percent = count(1, 100).describe('The share of those that end in ERROR, of all that finish.');
const byCount = ['failures', 'of'] as const;
const byShare = ['percent', 'minutes', 'at_least'] as const;

type FailingParams =
  | { failures: number; of: number }
  | { percent: number; minutes: number; at_least: number };

/** `failures` of the last `of`, or `percent` of those of the last `minutes`. */
const failing = z
  .object({
    failures: optional(count(1, 100)).describe('So many of the last `of` ended in ERROR. Default 3.'),
    of: optional(count(1, 100)).describe('Default 5.'),
    percent: optional(percent),
    minutes: optional(count(1, mostMinutes)).describe('The time in which `percent` counts. Default 60.'),
    at_least: optional(count(1, 1_000)).describe('With fewer in this time, none is fired. Default 10.'),
  })
  .superRefine((given, context) => {
    const fault = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (given.percent !== undefined) {
      for (const key of byCount) if (given[key] !== undefined) fault(key, 'cannot be set with `percent`');
      return;
    }
    for (const key of ['minutes', 'at_least'] as const)
      if (given[key] !== undefined) fault(key, 'needs `percent`');
    if ((given.failures ?? 3) > (given.of ?? 5)) fault('failures', 'must not be more than `of`');
  })
  .transform(
    ({ failures = 3, of = 5, percent: share, minutes: within = 60, at_least = 10 }): FailingParams =>
      share === undefined ? { failures, of } : { percent: share, minutes: within, at_least },
  )
  .meta({ id: 'FailingAlertParams' });

/** In the body that creates a rule. */
export const paramsOf = {
  missed: z
    .object({
      grace_seconds: optional(count(10, 86_400), null).describe(
        'An occurrence is missed when it is later than this. null: SCHEDULE_MISFIRE_GRACE_SECONDS.',
      ),
    })
    .meta({ id: 'MissedAlertParams' }),
  late: z.object({ seconds: optional(count(5, 86_400), 30) }).meta({ id: 'LateAlertParams' }),
  failing,
  waiting: z.object({ minutes: minutes(43_200, 60) }).meta({ id: 'WaitingAlertParams' }),
  integration: z.object({ minutes: minutes(mostMinutes, 10) }).meta({ id: 'IntegrationAlertParams' }),
  tool_server: z.object({ minutes: minutes(mostMinutes, 5) }).meta({ id: 'ToolServerAlertParams' }),
  budget: z
    .object({ percent: optional(count(1, 100), 80).describe('The part of the limit.') })
    .meta({ id: 'BudgetAlertParams' }),
  trigger: z
    .object({
      minutes: minutes(mostMinutes, 5),
      unread: optional(count(1, 1_000_000), 1_000).describe('More unread messages than this are many.'),
    })
    .meta({ id: 'TriggerAlertParams' }),
  no_scheduler: z.object({ seconds: optional(count(15, 3_600), 30) }).meta({ id: 'NoSchedulerAlertParams' }),
} as const satisfies Record<AlertKind, z.ZodType>;

/** The stored parameters of a kind, with defaults. */
export type ParamsOf<K extends AlertKind> = z.output<(typeof paramsOf)[K]>;

/** In a response: those of every kind have numbers, or null. */
export const shownParams = z
  .record(z.string(), z.int().nullable())
  .describe('The parameters of its kind, with their defaults.');

export const paramsDefault = <K extends AlertKind>(kind: K): ParamsOf<K> =>
  paramsOf[kind].parse({}) as ParamsOf<K>;

/** In a body that changes: merged key by key. */
export const changedParams = z
  .object({
    grace_seconds: z.int().nullish(),
    seconds: z.int().nullish(),
    failures: z.int().nullish(),
    of: z.int().nullish(),
    percent: z.int().nullish(),
    minutes: z.int().nullish(),
    at_least: z.int().nullish(),
    unread: z.int().nullish(),
  })
  .nullish()
  .describe(
    'Merged key by key; null resets a key to its default. Of `failing`, one of the two ways replaces the other.',
  );

const hasAny = (given: Record<string, unknown>, keys: readonly string[]): boolean =>
  keys.some((key) => given[key] !== undefined && given[key] !== null);

const without = (values: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

/** What a change of `failing` leaves of the parameters before: the way that it does not choose goes. */
const staying = (kind: AlertKind, before: Record<string, unknown>, given: Record<string, unknown>) => {
  if (kind !== 'failing') return before;
  if (hasAny(given, ['percent'])) return without(before, byCount);
  return hasAny(given, byCount) || given.percent === null ? without(before, byShare) : before;
};

const parameters = {
  missed: ['grace_seconds'],
  late: ['seconds'],
  failing: [...byCount, ...byShare],
  waiting: ['minutes'],
  integration: ['minutes'],
  tool_server: ['minutes'],
  budget: ['percent'],
  trigger: ['minutes', 'unread'],
  no_scheduler: ['seconds'],
} as const satisfies Record<AlertKind, readonly string[]>;

const inParams = ({ path, message }: Fault): Fault => ({ path: `params.${path}`, message });

/**
 * Returns the parameters after a change; null: all have their defaults. Throws 422 for parameters that the kind does not
 * have, or cannot have together.
 */
export const mergeParams = (
  kind: AlertKind,
  before: Record<string, unknown>,
  given: z.output<typeof changedParams>,
): object => {
  if (given === undefined) return before;
  const changes = withoutUndefined(given ?? {});
  const foreign = Object.keys(changes).filter(
    (key) => !(parameters[kind] as readonly string[]).includes(key),
  );
  const message = `is not a parameter of the kind ${kind}`;
  if (foreign.length > 0) throw unprocessable(foreign.map((path) => inParams({ path, message })));
  const stays = given === null ? {} : staying(kind, before, changes);
  const parsed = paramsOf[kind].safeParse({ ...stays, ...changes });
  if (parsed.success) return parsed.data;
  throw unprocessable(
    parsed.error.issues.map(({ path, message: why }) => inParams({ path: showPath(path), message: why })),
  );
};
