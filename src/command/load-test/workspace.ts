import { type Api, type Json, listAll } from '../api.ts';
import { CommandFailure } from '../client.ts';
import type { LoadTestOptions } from './options.ts';

/** All agents of load tests begin so, and nothing else should. */
export const namePrefix = 'agent-platform load test';

/** Deletes the agents of all load tests, with their schedules. Returns how many. */
export const deleteLeftAgents = async (api: Api): Promise<number> => {
  const left = (await listAll(api, '/agents')).filter(({ name }) => name.startsWith(namePrefix));
  for (const { id } of left) await api.delete(`/agents/${id}`);
  return left.length;
};

/** Whom the load would disturb, in words. */
export const findOthers = async (api: Api): Promise<string[]> => {
  const [schedules, integrations] = await Promise.all([
    api.app('/schedules?limit=1'),
    api.get('/observability/integrations'),
  ]);
  const enabled = integrations.filter(({ settings }: Json) => settings.is_enabled);
  return [
    ...(schedules.data.length > 0 ? ['Agents have schedules, which share the platform with the load.'] : []),
    ...(enabled.length > 0
      ? [`${enabled.length} integrations get traces, and would get those of the load.`]
      : []),
  ];
};

/** The LLM configuration of the built-in model. Throws CommandFailure if there is none. */
const findMock = async (api: Api): Promise<string> => {
  const mock = (await listAll(api, '/llm-configurations')).find(({ kind }) => kind === 'mock');
  if (!mock) {
    throw new CommandFailure(
      'There is no LLM configuration of kind mock. Create one: other models cost money.',
    );
  }
  return mock.id;
};

export interface Made {
  agents: string[];
  /** The paths of the schedules, without a base. */
  schedules: string[];
  /** The agent of the Work Items that are made through the API. */
  worker: string;
}

const payload = { mock: { steps: [{ text: 'Done.' }] } };

/** Creates the agents and their schedules, until `signal` is aborted. What it made is in `made` also if it throws. */
export const createAll = async (
  api: Api,
  { schedules }: LoadTestOptions,
  made: Made,
  signal: AbortSignal,
): Promise<void> => {
  const llm_id = await findMock(api);
  const { MAX_SCHEDULES_PER_AGENT: ofAnAgent } = await api.get('/advanced-settings');
  if (schedules > 0 && ofAnAgent === 0)
    throw new CommandFailure('MAX_SCHEDULES_PER_AGENT is 0: an agent may have no schedules.');
  const create = async (name: string): Promise<string> => {
    const settings = { max_concurrency: 100, max_attempts: 3 };
    const body = { name: `${namePrefix}: ${name}`, mode: 'worker', llm_id, settings };
    const { id } = await api.post('/agents', body);
    made.agents.push(id);
    return id;
  };
  made.worker = await create('Work Items');
  while (made.schedules.length < schedules && !signal.aborted) {
    const agent = await create(`schedules from ${made.schedules.length + 1}`);
    const count = Math.min(ofAnAgent, schedules - made.schedules.length);
    for (let i = 0; i < count && !signal.aborted; i++) {
      const body = { cron_expression: '* * * * *', message: 'A load test.', payload };
      const { id } = await api.post(`/agents/${agent}/schedules`, body);
      made.schedules.push(`/agents/${agent}/schedules/${id}`);
    }
  }
};

export const createWorkItem = (api: Api, { worker }: Made): Promise<Json> =>
  api.post('/work-items', { agent_id: worker, message: 'A load test.', payload });

/** Deletes what the load test made, as far as it can. Returns how many agents are left. */
export const deleteAll = async (api: Api, { agents }: Made): Promise<number> => {
  let left = 0;
  for (const id of agents) await api.delete(`/agents/${id}`).catch(() => left++);
  return left;
};
