import { newAgent, ok } from '../contract/fixture.ts';
import type { InBrowser } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export const call = (id: string, tool_name: string, args: object) => ({
  type: 'tool_call',
  tool_call_id: id,
  tool_name,
  arguments: args,
});
export const text = (words: string) => ({ type: 'text', text: words });

/** Work Items of an agent whose worker is the test: what is said and asked is what the test says. */
export const playedAgent = async (at: InBrowser, name: string) => {
  const agent = await newAgent(at, { name, execution: 'external', settings: { max_concurrency: 100 } });
  const create = (fields: object = {}): Promise<Json> =>
    ok(at.api.post('/work-items', { agent_id: agent.id, ...fields }));
  /** Claims the oldest one. Returns how to go on with it. */
  const claim = async () => {
    const { records } = await ok(at.api.post('/work-items/claim', { agent_ids: [agent.id] }));
    const { work_item, lease_token } = records[0];
    const path = `/work-items/${work_item.id}`;
    const say = (...messages: object[]) => ok(at.api.post(`${path}/heartbeat`, { lease_token, messages }));
    const finish = (body: object) => ok(at.api.post(`${path}/finish`, { lease_token, ...body }));
    return { id: work_item.id as string, say, finish };
  };
  /** One that waits for a person, after what was said. */
  const asking = async (fields: object, review: object, messages: object[] = []): Promise<string> => {
    await create(fields);
    const { id, say, finish } = await claim();
    if (messages.length > 0) await say(...messages);
    await finish({ outcome: 'NEEDS_REVIEW', review });
    return id;
  };
  const statusOf = async (id: string): Promise<string> => (await ok(at.api.get(`/work-items/${id}`))).status;
  return { agent, create, claim, asking, statusOf };
};
