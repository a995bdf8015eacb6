import { describeOutage } from './scenarios/telemetry-outage.describe.ts';

describeOutage(4);
