import { size } from './scenarios/fixture.ts';
import { describeKills } from './scenarios/kills.describe.ts';

const kills = size('FAULT_KILLS', 40);
const schedules = size('FAULT_SCHEDULES', 80);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);
const timeoutMs = 60_000 + kills * 30_000;

for (const replicas of [1, 2, 3]) {
  describeKills({ database: 'postgres', replicas, schedules, kills, seed: seed + replicas }, timeoutMs);
}
describeKills({ database: 'embedded', replicas: 1, schedules, kills, seed }, timeoutMs);
