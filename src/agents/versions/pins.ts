import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { type Agent, agents, type Content, toAgent } from '../store.ts';
import { withContent } from './content.ts';

/** Pins: the version that a run works with, from its first claim on. */

/** The agent as a run works with it: with the content of its version. */
export interface PinnedAgent extends Agent {
  /** No attempt has used the version yet. */
  isFirstRun: boolean;
  /** It is neither published nor a canary: what it names may have been deleted. */
  isRetired: boolean;
}

/**
 * The version that a claim gives a run, as an expression of `agents a`. `key` decides on the arm of a canary, so that all
 * runs with the same key have one arm while it lasts: its hash is a number below 10,000.
 */
const versionFor = (key: RawBuilder<unknown>): RawBuilder<unknown> => sql`case
  when a.canary is not null and ('x' || encode(substr(sha256(convert_to(
      (a.canary ->> 'id') || ':' || ${key}::text, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint % 10000
    < (a.canary ->> 'percent')::integer * 100
  then (a.canary ->> 'version')::integer else a.version end`;

/** The assignment that a claim makes, of a row `w` with `agent_id` and `agent_version`. */
export const pinAssignment = (key: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`agent_version = coalesce(w.agent_version, (select ${versionFor(key)} from agents a where a.id = w.agent_id))`;

const columns = sql.join(agents.columns.map((name) => sql`a.${sql.ref(name)}`));

/** Returns the agents of pins, in their order; undefined for those that do not exist. Version null: the published one. */
export const findPinned = async (
  executor: Executor,
  pins: readonly { id: string; version: number | null }[],
): Promise<(PinnedAgent | undefined)[]> => {
  type Row = Parameters<typeof toAgent>[0] & {
    n: number;
    pinned: Content | null;
    isFirstRun: boolean;
    isRetired: boolean;
  };
  const { rows } = await sql<Row>`
    select p.n::integer, ${columns}, v.content as pinned, v.number is not null and v.first_run is null as "isFirstRun",
      v.number is not null and v.number is distinct from a.version
        and v.number is distinct from (a.canary ->> 'version')::integer as "isRetired"
    from unnest(${pins.map(({ id }) => id)}::uuid[], ${pins.map(({ version }) => version)}::integer[])
      with ordinality as p(id, version, n)
    join agents a on a.id = p.id left join agent_versions v on v.agent_id = a.id and v.number = p.version`.execute(
    executor,
  );
  const found: (PinnedAgent | undefined)[] = pins.map(() => undefined);
  for (const { n, pinned, isFirstRun, isRetired, ...row } of rows) {
    const agent = toAgent(row as Parameters<typeof toAgent>[0]);
    const { execution } = agent;
    found[n - 1] = { ...withContent(agent, pinned), execution, isFirstRun, isRetired };
  }
  return found;
};

/** Returns the agent with the content of a version. Throws 404 if there is no such agent. */
export const getPinned = async (
  executor: Executor,
  id: string,
  version: number | null,
): Promise<PinnedAgent> => {
  const [agent] = isId(id) ? await findPinned(executor, [{ id, version }]) : [];
  if (!agent) throw notFound('agent');
  return agent;
};
