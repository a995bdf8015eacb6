import { describeTelemetryKills } from './scenarios/telemetry-kills.describe.ts';

describeTelemetryKills({ kills: 5, spans: 10_000, seed: 4 });
