import { size } from './scenarios/fixture.ts';
import { describeTelemetryKills } from './scenarios/telemetry-kills.describe.ts';

const kills = size('FAULT_TELEMETRY_KILLS', 200);
const spans = size('FAULT_TELEMETRY_SPANS', 1_000_000);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

describeTelemetryKills({ kills, spans, seed }, 120_000 + kills * 20_000);
