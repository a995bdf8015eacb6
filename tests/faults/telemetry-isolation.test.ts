import { describeIsolation } from './scenarios/telemetry-isolation.describe.ts';

describeIsolation(12);
