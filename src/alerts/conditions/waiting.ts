import { sql } from '../../database/index.ts';
import { isolate, quotedEnd } from '../../lib/prose.ts';
import { lengthOf } from '../../lib/times.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { AlertRule } from '../rules/store.ts';
import { type AskedLook, type Condition, mostFound } from './condition.ts';

const limitMs = (rule: AlertRule): number => paramsIn(rule, 'waiting').minutes * 60_000;

interface WaitingItem {
  id: string;
  name: string;
  agentId: string;
  since: Date;
  escalated: Date | null;
  question: string | null;
}

const isOpen = sql`state = 'open' and source = 'work_item'`;

/** The reviews that have been open for longer than the least time of a rule. */
const isLong = ({ now, rules }: AskedLook) =>
  sql`${isOpen} and opened_at < ${new Date(now - Math.min(...rules.enabled.map(limitMs)))}`;
const isEscalated = sql`${isOpen} and escalated_at is not null`;

/** Work Items whose review has been open for long, or has been escalated because no one decided. */
export const waiting: Condition = {
  subjectOf: () => 'work_item',
  ruleFor: (rules, { agentId }) => rules.narrowest({ agentId }),
  noun: 'Work Item',
  together: (items) => `${items} have waited for a person for long`,
  mayFind: (look) =>
    sql`(exists (select from reviews where ${isLong(look)}) or exists (select from reviews where ${isEscalated}))`,
  find: async (look) => {
    const { tx, now, rules, open } = look;
    const { rows } = await sql<WaitingItem>`
      select r.work_item_id as id, coalesce(r.name, r.agent_name) as name, r.agent_id as "agentId", r.opened_at as since,
        r.escalated_at as escalated, left(coalesce(r.reason, r.approvals -> 0 ->> 'reason'), 200) as question
      from (
        (select id from reviews where ${isLong(look)}
          order by opened_at limit ${sql.lit(mostFound + 1)})
        union
        (select id from reviews where ${isEscalated}
          order by id limit ${sql.lit(mostFound + 1)})
        union
        select id from reviews
        where state = 'open' and work_item_id is not null and work_item_id = any(${open.map(({ id }) => id)}::uuid[])
      ) found join reviews r on r.id = found.id order by r.opened_at`.execute(tx);
    return rows.flatMap(({ since, escalated, question, ...item }) => {
      const rule = rules.narrowest({ agentId: item.agentId });
      if (!rule) return [];
      const wasEscalated = escalated !== null && escalated > rule.created_at;
      if (!wasEscalated && countedFrom(rule, since) + limitMs(rule) >= now) return [];
      const why = wasEscalated ? 'No one decided in time. ' : '';
      return {
        rule,
        subject: item,
        cause: since.getTime(),
        title: `${isolate(item.name)} waits for a person`,
        detail: `${why}It has waited for ${lengthOf(now - since.getTime())}${question ? `: ${quotedEnd(question)}` : '.'}`,
      };
    });
  },
};
