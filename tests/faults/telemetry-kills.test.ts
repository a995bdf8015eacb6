import { describeTelemetryKills } from './scenarios/telemetry-kills.describe.ts';

describeTelemetryKills({ kills: 3, spans: 6_000, seed: 4 });
