import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { runWebhookKills } from './scenarios/triggers-webhooks.ts';

const events = size('FAULT_EVENTS', 100_000);
const kills = size('FAULT_EVENT_KILLS', 30);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);
const races = 1_000;

test(
  `${events} events, delivered at once and again to replicas that are killed ${kills} times, make one Work Item each`,
  async () => {
    const { problems, ...report } = await runWebhookKills({ events, races, kills, seed });
    console.log(JSON.stringify({ events, races, seed, ...report, problems: problems.length }));
    expect(problems.slice(0, 10)).toEqual([]);
    expect(report.items).toBe(events + races);
  },
  600_000 + events * 30,
);
