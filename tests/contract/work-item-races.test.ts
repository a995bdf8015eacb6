import { describe, expect, test } from 'vitest';
import { newAgent, ok, withPlatform } from './ground.ts';

describe('actions at the instant at which a worker claims or ends a Work Item', () =>
  withPlatform('postgres', (at) => {
    test('answer 200 or 412, never a server error', async () => {
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
