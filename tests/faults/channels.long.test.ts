import { expect, test } from 'vitest';
import { runChannelKills } from './scenarios/channels.ts';
import { size } from './scenarios/fixture.ts';

const reviews = size('FAULT_REVIEWS', 1_000);
const kills = size('FAULT_REVIEW_KILLS', 20);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

test(
  `${reviews} reviews are decided once each, by known people, over ${kills} kills and 30 s of delay`,
  async () => {
    const { problems, ...report } = await runChannelKills({ reviews, kills, delayMs: 30_000, seed });
    console.log(JSON.stringify({ reviews, seed, ...report, problems: problems.length }));
    expect(problems.slice(0, 10)).toEqual([]);
    expect(report.decided).toBeGreaterThanOrEqual(reviews);
  },
  900_000 + reviews * 1_000,
);
