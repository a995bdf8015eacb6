import { describeBrokerKills } from './scenarios/triggers-brokers.describe.ts';

describeBrokerKills({ broker: 'nats', kills: 2, seed: 5 });
describeBrokerKills({ broker: 'kafka', kills: 2, seed: 6 });
