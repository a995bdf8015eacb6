import { expect, test } from 'vitest';
import { runWebhookKills } from './scenarios/triggers-webhooks.ts';

test('each event that is delivered at once and again to replicas that are killed makes exactly one Work Item', async () => {
  const { problems, ...report } = await runWebhookKills({ events: 800, races: 50, kills: 2, seed: 4 });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(report.items).toBe(850);
  expect(report.further).toBeGreaterThan(1_000);
  expect(report.kills).toBeGreaterThan(0);
}, 400_000);
