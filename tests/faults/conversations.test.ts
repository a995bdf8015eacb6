import { describeStreamKills } from './scenarios/stream-kills.describe.ts';

describeStreamKills('one of two', 'postgres', [0, 1]);
