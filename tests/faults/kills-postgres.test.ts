import { describeKills } from './scenarios/kills.describe.ts';

describeKills({ database: 'postgres', replicas: 2, schedules: 40, kills: 3, seed: 1 });
