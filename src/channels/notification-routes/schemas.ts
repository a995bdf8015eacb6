import { z } from 'zod';
import {
  checkedLater,
  id,
  jsonValue,
  optional,
  pageOf,
  pageQuery,
  text,
  timestamp,
} from '../../http/index.ts';
import { alertKinds, approvalKinds } from '../../lib/announcer.ts';
import { severities } from '../../lib/attention.ts';
import { pointerTokens } from '../../lib/json-pointer.ts';
import { roles } from '../../lib/principal.ts';

const routePurposes = ['reviews', 'alerts'] as const;
export type RoutePurpose = (typeof routePurposes)[number];

const listOf = <S extends z.ZodType>(item: S, most: number) =>
  z.array(item).min(1, 'must have at least one; leave it out for all').max(most, `must have at most ${most}`);

/** Left out: all. */
const all = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'exists'] as const;
const ordering: readonly string[] = ['gt', 'gte', 'lt', 'lte'];

const condition = z
  .object({
    path: text(500)
      .refine((value) => pointerTokens(value) !== null, 'must be a JSON Pointer, such as /amount')
      .describe('A JSON Pointer (RFC 6901) into the arguments.'),
    op: z.enum(operators),
    value: jsonValue.optional().describe('Not of `exists`.'),
  })
  .superRefine(({ op, value }, context) => {
    const fault = (message: string) => context.addIssue({ code: 'custom', path: ['value'], message });
    if (op === 'exists' ? value !== undefined : value === undefined) {
      fault(op === 'exists' ? 'must be left out with `exists`' : 'is required');
    } else if (ordering.includes(op) && typeof value !== 'number' && typeof value !== 'bigint') {
      fault('must be a number: there is no other order');
    }
  })
  .describe('An absent path is false, whatever `op`.')
  .meta({ id: 'RouteCondition' });
export type Condition = z.output<typeof condition>;

/** An id in small letters, as it is stored. */
const givenId = id
  .transform((one) => one.toLowerCase())
  .meta({ openapi: { type: 'string', format: 'uuid' } });

const agentIds = all(listOf(givenId, 100));
const tool = text(200, 1).refine((name) => !name.slice(0, -1).includes('*'), 'may have `*` at its end only');

const reviewMatch = z
  .object({
    sources: optional(listOf(z.enum(['work_item', 'conversation']), 2), ['work_item'] as (
      | 'work_item'
      | 'conversation'
    )[]),
    agent_ids: agentIds,
    kinds: all(listOf(z.enum(approvalKinds), approvalKinds.length)),
    tools: all(listOf(tool, 100)).describe('As models call them; `*` at the end stands for anything.'),
    conditions: all(z.array(condition).max(5, 'must have at most 5')).describe('All of them hold.'),
  })
  .meta({ id: 'NewReviewMatch' });
export type ReviewMatch = z.output<typeof reviewMatch>;

const alertMatch = z
  .object({
    kinds: all(listOf(z.enum(alertKinds), alertKinds.length)),
    agent_ids: agentIds,
    severities: all(listOf(z.enum(severities), severities.length)),
  })
  .meta({ id: 'NewAlertMatch' });
export type AlertMatch = z.output<typeof alertMatch>;

/** The text comes last, so that faults of an object are those of the object. */
const recipients = z
  .union([
    z.strictObject({ role: z.enum(roles) }),
    z.strictObject({ user_ids: z.array(givenId).min(1).max(20) }),
    z.literal('channel'),
  ])
  .describe(
    '`channel`: its conversation, its recipients, or its address. People with exactly a role (the first 50 by name), or named ones: for Slack and e-mail.',
  );
export type Recipients = z.output<typeof recipients>;

const longestAfter = 43_200;

const step = z
  .object({
    channel_id: id,
    to: recipients,
    after_minutes: optional(
      z.int().min(0).max(longestAfter).describe('Sent once, while no one has decided or acknowledged.'),
      0,
    ),
  })
  .meta({ id: 'NewRouteStep' });
export type Step = z.output<typeof step>;

const mostSteps = 5;
const steps = z
  .array(step)
  .min(1, 'must have at least one step')
  .max(mostSteps, `must have at most ${mostSteps} steps`)
  .superRefine((list, context) => {
    list.forEach(({ after_minutes }, i) => {
      if (i === 0 || after_minutes >= list[i - 1]!.after_minutes) return;
      const message = 'must not be less than that of the step before';
      context.addIssue({ code: 'custom', path: [i, 'after_minutes'], message });
    });
  });

const role = z.enum(roles).describe('Who must at least have it to decide; the highest of the routes counts.');
const position = z
  .int()
  .min(0)
  .max(10_000)
  .describe('Routes are looked at in this order, then the older one first.');
const name = text(200, 1);

const defaultPosition = 100;

const created = {
  name,
  enabled: optional(z.boolean(), true),
  position: optional(position, defaultPosition),
  steps,
};

export const createBody = z
  .discriminatedUnion('for', [
    z
      .object({
        for: z.literal('reviews'),
        ...created,
        match: optional(reviewMatch).transform((match) => match ?? reviewMatch.parse({})),
        decide_role: optional(role, null),
      })
      .meta({ id: 'CreateReviewRoute' }),
    z
      .object({
        for: z.literal('alerts'),
        ...created,
        match: optional(alertMatch).transform((match) => match ?? alertMatch.parse({})),
        decide_role: optional(
          z.null({ error: 'is for routes of reviews: everyone who may acknowledges an alert' }),
          null,
        ),
      })
      .meta({ id: 'CreateAlertRoute' }),
  ])
  .meta({ id: 'CreateRouteBody' });

export type RouteFields = z.output<typeof createBody>;

/** The match of a change, which the purpose of the row decides. */
export const matchOf = { reviews: reviewMatch, alerts: alertMatch } as const;

export const updateBody = z
  .object({
    name: name.optional(),
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? undefined)
      .optional(),
    position: position
      .nullish()
      .transform((value) => (value === null ? defaultPosition : value))
      .optional(),
    for: z.string().optional().describe('Cannot be changed.'),
    match: checkedLater(z.union([reviewMatch, alertMatch])).describe(
      'Replaces the whole; null is the default.',
    ),
    steps: steps.optional(),
    decide_role: role.nullish(),
  })
  .meta({ id: 'UpdateRouteBody' });
export type RouteChanges = z.output<typeof updateBody>;

const shownIds = z.array(id).optional();
const shownReviewMatch = z
  .object({
    sources: z.array(z.enum(['work_item', 'conversation'])),
    agent_ids: shownIds,
    kinds: z.array(z.enum(approvalKinds)).optional(),
    tools: z.array(z.string()).optional(),
    conditions: z
      .array(z.object({ path: z.string(), op: z.enum(operators), value: jsonValue.optional() }))
      .optional(),
  })
  .meta({ id: 'ReviewMatch' });
const shownAlertMatch = z
  .object({
    kinds: z.array(z.enum(alertKinds)).optional(),
    agent_ids: shownIds,
    severities: z.array(z.enum(severities)).optional(),
  })
  .meta({ id: 'AlertMatch' });
const shownStep = z
  .object({
    channel_id: id,
    to: z.union([
      z.literal('channel'),
      z.object({ role: z.enum(roles) }),
      z.object({ user_ids: z.array(id) }),
    ]),
    after_minutes: z.int(),
  })
  .meta({ id: 'RouteStep' });

export const route = z
  .object({
    id,
    name: z.string(),
    enabled: z.boolean(),
    position: z.int(),
    for: z.enum(routePurposes),
    match: z.union([shownReviewMatch, shownAlertMatch]).describe('What is left out stands for all.'),
    steps: z.array(shownStep),
    decide_role: z.enum(roles).nullable(),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Route' });

export const routePage = pageOf('RoutePage', route);

export const listQuery = pageQuery.extend({ for: z.enum(routePurposes).optional() });
