import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { finder, jsonObject, jsonRoute, type Route, timestamp } from '../http/index.ts';
import { listSteps, stepKinds, stepStatuses } from './step-store.ts';
import { findWorkItemId } from './store.ts';

const publicStep = z
  .object({
    seq: z.int(),
    attempt: z.int(),
    parent: z.int().nullable().describe('The `seq` of the step that it is part of.'),
    kind: z.enum(stepKinds),
    name: z.string().describe('The model or the tool; `attempt N`, `wait` or `review`.'),
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null while it runs.'),
    status: z.enum(stepStatuses),
    error: z.string().nullable().describe('The code of the error.'),
    model: z.string().nullable(),
    tokens: jsonObject
      .nullable()
      .describe('What a model call used; what an attempt used, with its `model_calls` and `tool_calls`.'),
    trace_id: z.string().nullable().describe('The trace of an attempt.'),
    worker: z.string().nullable().describe('Who executed an attempt.'),
    message_seq: z.int().nullable(),
    message_id: z.string().nullable().describe('The message that the step stored.'),
    cost_nano_usd: z
      .int()
      .nullable()
      .describe('Cost of a model call, or of those of an attempt, in nano-USD; null for other steps.'),
    unknown_calls: z.int().nullable().describe('Calls of models whose price or usage is not known.'),
    notes: z
      .array(z.string())
      .describe('What to know of it: tools that the model did not get, and why. [] if there is nothing.'),
  })
  .meta({ id: 'WorkItemStep' });

/** Limit of steps: more than those of 100 attempts of usual length. */
const mostSteps = 10_000;

export const stepRoutes = (db: Database): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItemId);
  return [
    jsonRoute({
      id: 'listWorkItemSteps',
      role: 'member',
      scope: 'work_items:read',
      base: 'app',
      request: 'GET /work-items/{work_item_id}/steps',
      summary: 'List the steps of a Work Item',
      description: 'What happened in each attempt and when, oldest first, without content.',
      find,
      response: z.object({ data: z.array(publicStep) }).meta({ id: 'WorkItemSteps' }),
      handler: async ({ found }) => ({
        data: (await db.run((executor) => listSteps(executor, found.id, mostSteps))).map((step) => ({
          ...step,
          notes: step.notes ?? [],
        })),
      }),
    }),
  ];
};
