import { describe, expect, test } from 'vitest';
import { newAgent, ok, withPlatform } from './fixture.ts';

describe('actions at the instant when a worker claims or ends a Work Item', () =>
  withPlatform('postgres', (at) => {
    test('are 200 or 412, never a server error', async () => {
      const agent = await newAgent(at(), { settings: { max_concurrency: 100 } });
      const statuses = new Set<number>();
      const actions = ['cancel', 'restart', 'cancel', 'complete', 'restart', 'cancel'];
      const one = async () => {
        const { id } = await ok(at().api.post('/work-items', { agent_id: agent.id }));
        for (let n = 0; n < 5; n++) {
          for (const action of actions)
            statuses.add((await at().api.post(`/work-items/${id}/${action}`)).status);
        }
      };
      await Promise.all(Array.from({ length: 12 }, one));
      expect([...statuses].sort()).toEqual([200, 412]);
    });
  }));

describe('an agent', () =>
  withPlatform('postgres', (at) => {
    test('executes more Work Items as soon as its max_concurrency is raised', async () => {
      const agent = await newAgent(at(), { settings: { max_concurrency: 1 } });
      const payload = { mock: { steps: [{ text: 'done', delay_ms: 60_000 }] } };
      const make = () => ok(at().api.post('/work-items', { agent_id: agent.id, payload }));
      const ids = [(await make()).id, (await make()).id];
      const statuses = () =>
        Promise.all(ids.map(async (id) => (await ok(at().api.get(`/work-items/${id}`))).status as string));
      await expect.poll(async () => (await statuses()).sort()).toEqual(['EXECUTING', 'PENDING']);
      await ok(at().api.patch(`/agents/${agent.id}`, { settings: { max_concurrency: 2 } }));
      await expect.poll(statuses).toEqual(['EXECUTING', 'EXECUTING']);
      for (const id of ids) await ok(at().api.post(`/work-items/${id}/cancel`));
    });
  }));
