import { size } from './scenarios/fixture.ts';
import { describeOutage } from './scenarios/telemetry-outage.describe.ts';

describeOutage(size('FAULT_OUTAGE_MEGABYTES', 1_500), 1_800_000);
