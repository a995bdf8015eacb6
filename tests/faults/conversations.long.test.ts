import { describeStreamKills } from './scenarios/stream-kills.describe.ts';

describeStreamKills('the only one, which is started again', 'embedded', [0]);
