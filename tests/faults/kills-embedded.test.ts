import { describeKills } from './scenarios/kills.describe.ts';

describeKills({ database: 'embedded', replicas: 1, schedules: 40, kills: 2, seed: 2 });
