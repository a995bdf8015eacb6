import { sql } from '../../database/index.ts';
import { isolate, sentence } from '../../lib/prose.ts';
import { lengthOf } from '../../lib/times.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { Condition } from './condition.ts';

interface FailingServer {
  id: string;
  name: string;
  last: Date;
  never: boolean;
  error: string | null;
}

/** Of `tool_servers s`. */
const isFailing = sql`s.state = 'failing' and s.enabled`;

/** Tool servers that agents use and that have failed for long. */
export const toolServer: Condition = {
  subjectOf: () => 'tool_server',
  ruleFor: (rules) => rules.narrowest({}),
  noun: 'tool server',
  together: (servers) => `${servers} fail`,
  mayFind: () => sql`exists (select from tool_servers s where ${isFailing})`,
  find: async ({ tx, now, rules }) => {
    const rule = rules.narrowest({});
    if (!rule) return [];
    const { rows } = await sql<FailingServer>`
      select s.id, s.name, coalesce(s.last_success_at, s.created_at) as last, s.last_success_at is null as never,
        s.last_error as error
      from tool_servers s where ${isFailing}
        and exists (select from agents a where a.tool_server_ids @> array[s.id]) order by s.id`.execute(tx);
    const limitMs = paramsIn(rule, 'tool_server').minutes * 60_000;
    return rows.flatMap(({ id, name, last, never, error }) => {
      if (now - countedFrom(rule, last) <= limitMs) return [];
      const ago = lengthOf(now - last.getTime());
      return {
        rule,
        subject: { id, name, agentId: null },
        cause: now,
        title: `The tool server ${isolate(name)} fails`,
        detail: `${error ? `${sentence(error)} ` : ''}${never ? `It has not responded since it was made, ${ago} ago.` : `It last responded ${ago} ago.`}`,
      };
    });
  },
};
