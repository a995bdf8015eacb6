import { describeKills } from './scenarios/kills.describe.ts';

describeKills({ database: 'embedded', replicas: 1, schedules: 20, kills: 1, seed: 2 });
