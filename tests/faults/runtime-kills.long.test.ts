import { describeRuntimeKills } from './scenarios/runtime-kills.describe.ts';

describeRuntimeKills('embedded', 1);
