import { LRUCache } from 'lru-cache';
import { agentCalls, type NamedInRun, type PinnedAgent } from '../agents/index.ts';
import type { Database } from '../database/index.ts';
import { Batch } from '../lib/batch.ts';
import { notFound } from '../lib/errors.ts';
import type { LlmConfigurations, ResolvedLlm } from '../llm-configurations/index.ts';

/** Reads of attempts before their first step. Those that begin at the same moment share the statements. */
export interface AttemptReads {
  /**
   * The agent with the content of a version, and a function that reads its LLM configurations. Rejects with 404 if there is
   * none, and with `VersionUnusable` if the version names what was deleted.
   */
  agent(id: string, version: number | null): Promise<{ agent: PinnedAgent; llm: AttemptReads['llm'] }>;
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

interface Pin {
  id: string;
  version: number | null;
}

/** An agent, and the LLM configurations that were read at the same time. */
interface Found {
  agent: PinnedAgent;
  llms: ReadonlyMap<string | null, Settled<ResolvedLlm>>;
}

const keyOf = ({ id, version }: Pin): string => `${id} ${version}`;

const unwrap = <T>(result: Settled<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};

export const createReads = (db: Database, llms: Pick<LlmConfigurations, 'resolve'>): AttemptReads => {
  /** The LLM configuration that each version last named, so that both are read together. */
  const lastLlms = new LRUCache<string, { id: string | null }>({ max: 10_000 });
  const readLlms = async (ids: Iterable<string | null>): Promise<Found['llms']> => {
    const distinct = [...new Set(ids)];
    const read = await Promise.allSettled(distinct.map((id) => llms.resolve(id)));
    return new Map(distinct.map((id, i) => [id, read[i]!]));
  };
  const agents = new Batch<Pin, Found | null>({
    most,
    atOnce,
    run: async (pins) => {
      const distinct = new Map(pins.map((pin) => [keyOf(pin), pin]));
      const [found, read] = await Promise.all([
        db.run((executor) => agentCalls.findPinned(executor, [...distinct.values()])),
        readLlms([...distinct.keys()].flatMap((key) => lastLlms.get(key) ?? []).map(({ id }) => id)),
      ]);
      const byKey = new Map([...distinct.keys()].map((key, i) => [key, found[i]]));
      for (const [key, agent] of byKey) if (agent) lastLlms.set(key, { id: agent.llm_id });
      return pins.map((pin) => {
        const agent = byKey.get(keyOf(pin));
        return agent ? { agent, llms: read } : null;
      });
    },
  });
  const configurations = new Batch<string | null, Settled<ResolvedLlm>>({
    most,
    atOnce,
    run: async (ids) => {
      const read = await readLlms(ids);
      return ids.map((id) => read.get(id));
    },
  });
  const llm = async (id: string | null) => unwrap(await configurations.add(id));
  return {
    agent: async (id, version) => {
      const found = await agents.add({ id, version });
      if (!found) throw notFound('agent');
      const { agent, llms: read } = found;
      if (version !== null && agent.isRetired) {
        const missing = await db.tx((tx) => agentCalls.listMissing(tx, agent));
        if (missing.length > 0)
          throw new VersionUnusable(
            version,
            missing.map(({ field }) => field),
          );
      }
      return {
        agent,
        llm: async (llmId) => {
          const early = read.get(llmId);
          return early?.status === 'fulfilled' ? early.value : llm(llmId);
        },
      };
    },
    firstRun: (agentId, version, named) =>
      db.tx((tx) => agentCalls.recordFirstRun(tx, agentId, version, named)),
    llm,
  };
};
