import { describeStoreKills } from './scenarios/trace-store-kills.describe.ts';

describeStoreKills({ database: 'postgres', kills: 3, requests: 4, seed: 7 });
describeStoreKills({ database: 'embedded', kills: 1, requests: 3, seed: 8 });
