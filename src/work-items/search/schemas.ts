import { z } from 'zod';
import { givenTime, optionalQueryInteger, queryList, text } from '../../http/index.ts';
import { status, versionFilter, versionNeedsAgent } from '../schemas.ts';
import { sources } from './conditions.ts';

/** Number of agents that one list merges. */
const mostAgents = 50;

const oneOfMany = (list: string) => `Any of them${list}.`;

/** The filters of a list, all but those that have several values. */
const single = {
  schedule_id: z
    .string()
    .optional()
    .describe('Work Items of this schedule, those that a person ran included.'),
  trigger_id: z
    .string()
    .optional()
    .describe('Work Items of this trigger, those of events that a person redelivered included.'),
  source: z
    .enum(sources)
    .optional()
    .describe('Who created it: a schedule at its time, a trigger for an event, a key, or a person.'),
  error_code: text(200, 1).optional().describe('Those that have this `error.code`.'),
  created_from: givenTime.optional().describe('Created at this time or later.'),
  created_to: givenTime.optional().describe('Created before this time.'),
  finished_from: givenTime.optional().describe('Finished at this time or later.'),
  finished_to: givenTime.optional().describe('Finished before this time.'),
  min_cost_nano_usd: optionalQueryInteger(0, 9e15).describe('Those that cost at least so much, in nano-USD.'),
  q: text(200, 1).optional().describe('How the name or the id begins, in upper or lower case.'),
};

export const hasOneAgent = ({
  agent_id,
  agent_version,
}: {
  agent_id?: unknown;
  agent_version?: unknown;
}): boolean => agent_version === undefined || (Array.isArray(agent_id) && agent_id.length === 1);

const repeated = ', given several times or with commas';

/** The filters in a query. Refine what extends it by `hasOneAgent`. */
export const searchQuery = z.object({
  agent_version: versionFilter,
  status: queryList(status, 8).optional().describe(oneOfMany(repeated)),
  agent_id: queryList(z.string(), mostAgents).optional().describe(oneOfMany(repeated)),
  ...single,
});

const oneOrMany = <S extends z.ZodType>(item: S, most: number) =>
  z
    .union([z.array(item).max(most, `must have at most ${most} items`), item.transform((one) => [one])])
    .meta({ openapi: z.array(item).max(most) });

/** Filters of the query, in a body. */
export const searchBody = z
  .object({
    agent_version: z
      .int()
      .min(1)
      .optional()
      .describe('Work Items that this version of the agent executes. Requires one `agent_id`.'),
    status: oneOrMany(status, 8).optional().describe(oneOfMany('')),
    agent_id: oneOrMany(z.string(), mostAgents).optional().describe(oneOfMany('')),
    ...single,
  })
  .refine(hasOneAgent, versionNeedsAgent)
  .meta({ id: 'WorkItemFilter' });
