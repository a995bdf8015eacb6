import { describeKills } from './scenarios/kills.describe.ts';

describeKills({ database: 'postgres', replicas: 2, schedules: 40, kills: 2, seed: 1 });
