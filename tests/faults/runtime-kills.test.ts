import { describeRuntimeKills } from './scenarios/runtime-kills.describe.ts';

describeRuntimeKills('postgres', 2);
