import { size } from './scenarios/fixture.ts';
import { describeBrokerKills } from './scenarios/triggers-brokers.describe.ts';

const kills = size('FAULT_BROKER_KILLS', 50);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);
const timeoutMs = 240_000 + kills * 60_000;

describeBrokerKills({ broker: 'nats', kills, seed }, timeoutMs);
describeBrokerKills({ broker: 'kafka', kills, seed }, timeoutMs);
