import { size } from './scenarios/fixture.ts';
import { describeStoreKills } from './scenarios/trace-store-kills.describe.ts';

const kills = size('FAULT_STORE_KILLS', 200);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);
const timeoutMs = 120_000 + kills * 20_000;

describeStoreKills({ database: 'postgres', kills, requests: 20, seed }, timeoutMs);
describeStoreKills({ database: 'embedded', kills: Math.ceil(kills / 4), requests: 8, seed }, timeoutMs);
