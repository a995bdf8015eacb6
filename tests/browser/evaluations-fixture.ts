import { type Fixture, newAgent, ok } from '../contract/fixture.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** What a dataset, its experiments and a judge need: all made as a user makes them. */
export interface Evaluated {
  agent: Json;
  item: Json;
  dataset: Json;
  recorded: Json;
  written: Json;
  before: Json;
  after: Json;
  diverged: Json;
}

const ledger = { tool: 'ledger__look_up', args: { invoice: '2026-0117' } };

/** A finished Work Item with a tool call. */
const runItem = async (at: Fixture, agentId: string, name: string): Promise<Json> => {
  const payload = { mock: { steps: [ledger, { text: 'The invoice is due: 480 EUR.' }] } };
  const message = 'Is the invoice 2026-0117 due?';
  const { id } = await ok(at.api.post('/work-items', { agent_id: agentId, name, message, payload }));
  return until(async () => {
    const item = await ok(at.api.get(`/work-items/${id}`));
    return ['COMPLETED', 'ERROR'].includes(item.status) ? item : undefined;
  });
};

/**
 * A dataset with a recorded case and a written one, and two experiments over it with the versions 1 and 2 of an agent:
 * the second diverges from the recording, because the case then makes another call.
 */
export const makeEvaluated = async (at: Fixture): Promise<Evaluated> => {
  await using server = await startToolServer({
    tools: [{ name: 'look_up', result: () => ({ content: [{ type: 'text', text: '{"total": 480}' }] }) }],
  });
  const { id: serverId } = await ok(
    at.api.post('/tool-servers', { name: 'Ledger', prefix: 'ledger', url: server.url }),
  );
  const agent = await newAgent(at, {
    name: 'Invoice clerk',
    instructions: 'Say what is due.',
    tool_server_ids: [serverId],
    tool_policies: [{ tool_server_id: serverId, tool: 'look_up', policy: 'allow' }],
    settings: { max_attempts: 1 },
  });
  const item = await runItem(at, agent.id, 'Invoice 2026-0117');
  const graders = [
    { type: 'contains', name: 'names the sum', values: ['480'] },
    { type: 'human', name: 'polite', question: 'Is it polite?' },
  ];
  const dataset = await ok(
    at.api.post('/datasets', { name: 'Invoices', description: 'What is due.', graders }),
  );
  const cases = `/datasets/${dataset.id}/cases`;
  const recorded = await ok(at.api.post(cases, { work_item_id: item.id, tags: ['due'] }));
  const written = await ok(
    at.api.post(cases, {
      name: 'Nothing is due',
      input: { message: 'Is anything due?', payload: { mock: { steps: [{ text: 'No, nothing.' }] } } },
      expected: 'nothing',
    }),
  );
  const run = async (): Promise<Json> => {
    const body = { agent_id: agent.id, dataset_id: dataset.id, version: 'draft', repetitions: 2 };
    const { id } = await ok(at.api.post('/experiments', body));
    return until(async () => {
      const experiment = await ok(at.api.get(`/experiments/${id}`));
      return experiment.state === 'done' ? experiment : undefined;
    });
  };
  const before = await run();
  await ok(at.api.patch(`/agents/${agent.id}`, { instructions: 'Say politely what is due.' }));
  const other = { tool: 'ledger__look_up', args: { invoice: '2026-0118', currency: 'EUR' } };
  const payload = { mock: { steps: [other, { text: 'Nothing is due.' }] } };
  const changed = await ok(at.api.patch(`${cases}/${recorded.id}`, { input: { payload } }));
  const after = await run();
  const { data } = await ok(at.api.get(`/experiments/${after.id}/trials?outcome=diverged`));
  return { agent, item, dataset, recorded: changed, written, before, after, diverged: data[0] };
};
