import { expect, it } from 'vitest';
import { openMigrated } from '../../../tests/harness/database.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { Firing } from './firing.ts';

/** `text` with its lines indented by the parentheses around them, since its parts come from several files. */
const aligned = (text: string): string => {
  let depth = 0;
  let result = '';
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    result += `${'  '.repeat(depth - (line.startsWith(')') ? 1 : 0))}${line}\n`;
    depth += line.split('(').length - line.split(')').length;
  }
  return result;
};

it('schedules advance, become Work Items and are recorded in one statement, which advance.sql shows', async () => {
  await using db = await openMigrated('embedded');
  const agent = await makeAgent(db);
  await db.run((r) =>
    sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
      values (${newId()}, ${agent}, '0 3 * * *', 'UTC', platform_now() - interval '1 second', '2026c')`.execute(
      r,
    ),
  );
  const writes: string[] = [];
  db.onStatement(({ text }) => {
    if (/insert into/.test(text)) writes.push(text);
  });
  await new Firing({ db, log: silentLogger }).fireDue();
  expect(writes.length).toBe(1);
  const comment =
    '-- The statement of `advance` in store.ts, as store.test.ts found it: its parts come from three files.\n';
  await expect(comment + aligned(writes[0]!)).toMatchFileSnapshot('advance.sql');
});
