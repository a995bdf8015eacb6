import { type Agent, getAgents } from '../agents/index.ts';
import type { Database } from '../database/index.ts';
import { Batch } from '../lib/batch.ts';
import { notFound } from '../lib/errors.ts';
import type { LlmConfigurations, ResolvedLlm } from '../llm-configurations/index.ts';

/** Reads of attempts before their first step. Those that begin at the same moment share the statements. */
export interface AttemptReads {
  /** Rejects with 404 if there is none. */
  agent(id: string): Promise<Agent>;
  /** The LLM configuration, or the default if `id` is null. Rejects with 404 if there is none. */
  llm(id: string | null): Promise<ResolvedLlm>;
}

type Settled<T> = PromiseSettledResult<T>;

const most = 100;
const atOnce = 4;

const unwrap = <T>(result: Settled<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};

export const createReads = (db: Database, llms: Pick<LlmConfigurations, 'resolve'>): AttemptReads => {
  const agents = new Batch<string, Agent | null>({
    most,
    atOnce,
    run: async (ids) => {
      const found = await db.run((executor) => getAgents(executor, [...new Set(ids)]));
      const byId = new Map(found.map((agent) => [agent.id, agent]));
      return ids.map((id) => byId.get(id) ?? null);
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
    agent: async (id) => {
      const agent = await agents.add(id);
      if (!agent) throw notFound('agent');
      return agent;
    },
    llm: async (id) => unwrap(await configurations.add(id)),
  };
};
