import { expect, test } from 'vitest';
import { runExternal } from './scenarios/external.ts';
import { size } from './scenarios/fixture.ts';

const kills = size('FAULT_EXTERNAL_KILLS', 40);
const items = size('FAULT_EXTERNAL_ITEMS', 60);

test(`${kills} kills, ${items} new items each: every item is completed once, every callback arrives`, async () => {
  const { problems, ...numbers } = await runExternal(kills, items);
  console.log(JSON.stringify(numbers));
  expect(problems.slice(0, 10)).toEqual([]);
});
