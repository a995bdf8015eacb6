import { sql, type Tx } from '../../database/index.ts';
import { isolate, sentence } from '../../lib/prose.ts';
import { lengthOf } from '../../lib/times.ts';
import { listBlockedTriggers } from '../../triggers/index.ts';
import { paramsIn } from '../rules/narrowest.ts';
import type { Condition, Subject } from './condition.ts';

interface Troubled extends Subject {
  title: string;
  detail: string;
  /** Since when it is known to be so; null: only from this look on. */
  since: Date | null;
}

/** So many unread messages are many, as `behind_since` of readings counts. */
const behindMessages = 1_000;

const listBlocked = async (tx: Tx, allowUnsigned: boolean): Promise<Troubled[]> =>
  (await listBlockedTriggers(tx, allowUnsigned)).map(({ id, name, agent_id, reason }) => ({
    id,
    name,
    agentId: agent_id,
    title: `The trigger ${isolate(name)} receives nothing`,
    detail: sentence(reason),
    since: null,
  }));

const listBehind = async (tx: Tx, unread: number): Promise<Troubled[]> => {
  const { rows } = await sql<Subject & { lag: number; since: Date | null; error: string | null }>`
    select t.id, t.name, t.agent_id as "agentId", r.lag, r.behind_since as since, r.last_error as error
    from trigger_readings r join triggers t on t.id = r.trigger_id where t.enabled and r.lag > ${unread}`.execute(
    tx,
  );
  return rows.map(({ lag, since, error, ...subject }) => ({
    ...subject,
    title: `The trigger ${isolate(subject.name)} is ${lag.toLocaleString('en')} messages behind`,
    detail: error ? sentence(error) : 'Its broker has more messages than are read.',
    // With a higher limit they may have been more than it only later.
    since: unread <= behindMessages ? since : null,
  }));
};

/** Remembers since when the rule has had these subjects, and forgets others. Returns the times of those, by their ids. */
const remember = async (
  tx: Tx,
  ruleId: string,
  ids: readonly string[],
  at: Date,
): Promise<ReadonlyMap<string, number>> => {
  await sql`delete from alert_conditions where rule_id = ${ruleId} and not (subject_id = any(${ids}::text[]))`.execute(
    tx,
  );
  if (ids.length === 0) return new Map();
  await sql`insert into alert_conditions (rule_id, subject_id, since) select ${ruleId}::uuid, id, ${at}::timestamptz
    from unnest(${ids}::text[]) as id on conflict do nothing`.execute(tx);
  const { rows } = await sql<{ id: string; since: Date }>`
    select subject_id as id, since from alert_conditions where rule_id = ${ruleId}`.execute(tx);
  return new Map(rows.map(({ id, since }) => [id, since.getTime()]));
};

/** Triggers that have been blocked, or have had many unread messages, for long. */
export const trigger: Condition = {
  subjectOf: () => 'trigger',
  ruleFor: (rules) => rules.narrowest({}),
  noun: 'trigger',
  together: (triggers) => `${triggers} receive nothing, or are far behind`,
  // What is remembered is forgotten by the look that finds it no longer.
  mayFind: () => sql`(exists (select from triggers where enabled) or exists (select from alert_conditions))`,
  find: async ({ tx, now, rules, settings }) => {
    const rule = rules.narrowest({});
    if (!rule) return [];
    const { minutes, unread } = paramsIn(rule, 'trigger');
    const all = [
      ...(await listBlocked(tx, settings.ALLOW_UNSIGNED_WEBHOOKS)),
      ...(await listBehind(tx, unread)),
    ];
    // One that is both is in it once.
    const troubled = [...new Map(all.toReversed().map((one) => [one.id, one])).values()];
    const known = await remember(
      tx,
      rule.id,
      troubled.map(({ id }) => id),
      new Date(now),
    );
    return troubled.flatMap(({ title, detail, since, ...subject }) => {
      const remembered = known.get(subject.id) ?? now;
      const from = Math.max(rule.created_at.getTime(), Math.min(remembered, since?.getTime() ?? remembered));
      if (now - from < minutes * 60_000) return [];
      return {
        rule,
        subject,
        cause: from,
        title,
        detail: `${detail} It has been so for ${lengthOf(now - from)}.`,
      };
    });
  },
};
