import { agentCalls, type NamedInRun, type PinnedAgent } from '../agents/index.ts';
import type { Database } from '../database/index.ts';
import { Batch } from '../lib/batch.ts';
import { notFound } from '../lib/errors.ts';
import type { LlmConfigurations, ResolvedLlm } from '../llm-configurations/index.ts';

/** Reads of attempts before their first step. Those that begin at the same moment share the statements. */
export interface AttemptReads {
  /**
   * The agent with the content of a version. Rejects with 404 if there is none, and with `VersionUnusable` if the version
   * names what was deleted.
   */
  agent(id: string, version: number | null): Promise<PinnedAgent>;
  /** Records the models and tools of the first attempt with a version, once. */
  firstRun(agentId: string, version: number, named: NamedInRun): Promise<void>;
  /** The LLM configuration, or the default if `id` is null. Rejects with 404 if there is none. */
  llm(id: string | null): Promise<ResolvedLlm>;
}

/** A pinned version names what was deleted since: only those that are not published any more can. */
export class VersionUnusable extends Error {
  readonly code = 'version_unusable';
  readonly retryable = false;

  constructor(version: number, fields: readonly string[]) {
    super(
      `Version ${version} of the agent names what was deleted (${fields.join(', ')}). Restart the Work Item to use the published version.`,
    );
    this.name = 'VersionUnusable';
  }
}

type Settled<T> = PromiseSettledResult<T>;

const most = 100;
const atOnce = 4;

const unwrap = <T>(result: Settled<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};

export const createReads = (db: Database, llms: Pick<LlmConfigurations, 'resolve'>): AttemptReads => {
  const agents = new Batch<{ id: string; version: number | null }, PinnedAgent | null>({
    most,
    atOnce,
    run: async (pins) => {
      const found = await db.run((executor) => agentCalls.findPinned(executor, pins));
      return found.map((agent) => agent ?? null);
    },
  });
  const configurations = new Batch<string | null, Settled<ResolvedLlm>>({
    most,
    atOnce,
    run: async (ids) => {
      const distinct = [...new Set(ids)];
      const read = await Promise.allSettled(distinct.map((id) => llms.resolve(id)));
      return ids.map((id) => read[distinct.indexOf(id)]);
    },
  });
  return {
    agent: async (id, version) => {
      const agent = await agents.add({ id, version });
      if (!agent) throw notFound('agent');
      if (version !== null && agent.isRetired) {
        const missing = await db.tx((tx) => agentCalls.listMissing(tx, agent));
        if (missing.length > 0)
          throw new VersionUnusable(
            version,
            missing.map(({ field }) => field),
          );
      }
      return agent;
    },
    firstRun: (agentId, version, named) =>
      db.tx((tx) => agentCalls.recordFirstRun(tx, agentId, version, named)),
    llm: async (id) => unwrap(await configurations.add(id)),
  };
};
