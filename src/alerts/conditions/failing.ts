import { type RawBuilder, sql, type Tx } from '../../database/index.ts';
import { counted, isolate } from '../../lib/prose.ts';
import { lengthOf } from '../../lib/times.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { ParamsOf } from '../rules/params.ts';
import type { AlertRule } from '../rules/store.ts';
import {
  type AskedLook,
  type Condition,
  type Finding,
  inTurn,
  type Look,
  mostFound,
  type Open,
  type Subject,
} from './condition.ts';

const minute = 60_000;
/** A share counts at most so many of each status, the latest: reading more would take longer and say the same. */
const mostOfShare = 1_000;
/** So many are looked at in one look: those of a share cost some 0.5 ms each, the others a tenth of that. */
const mostLookedAt = { count: 300, share: 50 };

type Params = ParamsOf<'failing'>;
type ByCount = Extract<Params, { of: number }>;
type ByShare = Extract<Params, { percent: number }>;

/** What is looked at, and its rule. */
interface Asked<P extends Params = Params> {
  rule: AlertRule;
  params: P;
  id: string;
}

interface Counts extends Subject {
  rule: AlertRule;
  failed: number;
  finished: number;
  last: Date | null;
}

const isShare = (asked: Asked): asked is Asked<ByShare> => 'percent' in asked.params;
const isCount = (asked: Asked): asked is Asked<ByCount> => 'of' in asked.params;

/** Statuses of the indexes of what has ended. */
const ended = sql`status not in ('PENDING', 'EXECUTING') and finished_at is not null`;

/** Since when Work Items that failed are looked for. A changed rule looks at what failed before its change. */
const errorsFrom = ({ since, rules }: AskedLook): Date =>
  new Date(
    rules.changedAt > since
      ? Math.min(...rules.enabled.map(({ created_at }) => created_at.getTime()))
      : since,
  );

/** A Work Item that ended in ERROR after a time. */
const isError = (since: Date) => sql`status = 'ERROR' and ${ended} and finished_at > ${since}`;

/** Agents with such a Work Item. Of many the latest count. */
const listWithErrors = async (tx: Tx, since: Date): Promise<string[]> => {
  const { rows } = await sql<{ agent_id: string }>`
    select distinct agent_id from (
      select agent_id from work_items where ${isError(since)}
      order by finished_at desc limit ${sql.lit(2 * mostFound)}) latest`.execute(tx);
  return rows.map(({ agent_id }) => agent_id);
};

/** Of whom Work Items are counted. */
type By = 'agent_id' | 'schedule_id';

/** The subject with the id `r.id`. */
const subjectOf = (by: By) =>
  by === 'agent_id'
    ? sql`select id, name, id as "agentId" from agents where id = r.id`
    : sql`select s.id, coalesce(s.work_item_name, a.name) as name, s.agent_id as "agentId"
        from schedules s join agents a on a.id = s.agent_id where s.id = r.id`;

/**
 * When the latest Work Items of `r.id` with this status finished, after `since`. Those of an agent are read by an index of
 * their ends. There is none of those of a schedule: the latest that were created are read.
 */
const latest = (by: By, status: 'ERROR' | 'COMPLETED', since: RawBuilder<unknown>, most: number) =>
  by === 'agent_id'
    ? sql`(select status, finished_at from work_items where agent_id = r.id and status = ${sql.lit(status)}
        and ${ended} and finished_at > ${since} order by finished_at desc limit ${sql.lit(most)})`
    : sql`(select status, finished_at from (select status, finished_at from work_items
        where schedule_id = r.id and status = ${sql.lit(status)} and ${ended}
        order by created_at desc limit ${sql.lit(most)}) one where finished_at > ${since})`;

/** The last `of` that finished, and how many of them failed. */
const countLast = async (tx: Tx, by: By, asked: readonly Asked<ByCount>[]): Promise<Counts[]> => {
  if (asked.length === 0) return [];
  const most = Math.max(...asked.map(({ params }) => params.of));
  const since = sql`r.since`;
  const { rows } = await sql<Counts & { n: number }>`
    select r.n::integer as n, s.*, f.failed, f.finished, f.last
    from unnest(${asked.map(({ id }) => id)}::uuid[], ${asked.map(({ params }) => params.of)}::integer[],
        ${asked.map(({ rule }) => rule.created_at)}::timestamptz[])
      with ordinality as r(id, size, since, n)
    cross join lateral (${subjectOf(by)}) s
    cross join lateral (
      select count(*) filter (where status = 'ERROR')::integer as failed, count(*)::integer as finished,
        max(finished_at) filter (where status = 'ERROR') as last
      from (select status, finished_at, row_number() over (order by finished_at desc) as place
        from (${latest(by, 'ERROR', since, most)} union all ${latest(by, 'COMPLETED', since, most)}) both_statuses) placed
      where place <= r.size
    ) f`.execute(tx);
  return rows.map(({ n, ...counts }) => ({ ...counts, rule: asked[n - 1]!.rule }));
};

/**
 * Those that finished within `minutes`, and how many of them failed. Of a status of which more finished than are read only the
 * latest are known: both are counted from the earliest of these on.
 */
const countShare = async (
  tx: Tx,
  by: By,
  asked: readonly Asked<ByShare>[],
  now: number,
): Promise<Counts[]> => {
  if (asked.length === 0) return [];
  const from = asked.map(({ rule, params }) => new Date(countedFrom(rule, now - params.minutes * minute)));
  const counted = (status: 'ERROR' | 'COMPLETED', since: RawBuilder<unknown>) => sql`(
    select count(*)::integer as n, max(finished_at) as last,
      case when count(*) = ${sql.lit(mostOfShare)} then min(finished_at) - interval '1 millisecond' end as known_from
    from ${latest(by, status, since, mostOfShare)} one)`;
  const { rows } = await sql<Counts & { n: number }>`
    select r.n::integer as n, s.*, failed.n as failed, failed.n + completed.n as finished, failed.last
    from unnest(${asked.map(({ id }) => id)}::uuid[], ${from}::timestamptz[]) with ordinality as r(id, since, n)
    cross join lateral (${subjectOf(by)}) s
    cross join lateral ${counted('ERROR', sql`r.since`)} errors
    cross join lateral ${counted('COMPLETED', sql`greatest(r.since, errors.known_from)`)} completed
    cross join lateral ${counted('ERROR', sql`greatest(r.since, errors.known_from, completed.known_from)`)} failed`.execute(
    tx,
  );
  return rows.map(({ n, ...counts }) => ({ ...counts, rule: asked[n - 1]!.rule }));
};

const isFailing = ({ rule, failed, finished }: Counts): boolean => {
  const params = paramsIn(rule, 'failing');
  if ('of' in params) return failed >= params.failures;
  return finished >= params.at_least && failed * 100 >= params.percent * finished;
};

const detailOf = ({ rule, failed, finished }: Counts): string => {
  const params = paramsIn(rule, 'failing');
  if (finished === 1) return 'The last Work Item ended in ERROR.';
  const items = counted(finished, 'Work Item');
  const within = 'of' in params ? '' : `, within ${lengthOf(params.minutes * minute)},`;
  return `${failed.toLocaleString('en')} of the last ${items}${within} ended in ERROR.`;
};

/** The open subjects of a look that have their turn. The others go on. */
const lookedAt = ({ open, now }: Look): readonly Open[] => {
  const shares = open.filter(({ rule }) => 'percent' in paramsIn(rule, 'failing'));
  const others = open.filter((one) => !shares.includes(one));
  return [...inTurn(others, mostLookedAt.count, now), ...inTurn(shares, mostLookedAt.share, now)];
};

const find = async (look: Look): Promise<Finding[]> => {
  const { tx, now, rules } = look;
  const ask = (rule: AlertRule | undefined, id: string): Asked[] =>
    rule ? [{ rule, id, params: paramsIn(rule, 'failing') }] : [];
  const fresh = (await listWithErrors(tx, errorsFrom(look))).flatMap((id) =>
    ask(rules.narrowest({ agentId: id }), id),
  );
  const open = lookedAt(look).filter(({ rule }) => rule.schedule_id === null);
  const ofAgents = new Map(
    [
      ...inTurn(fresh.filter(isCount), mostLookedAt.count, now),
      ...inTurn(fresh.filter(isShare), mostLookedAt.share, now),
      ...open.flatMap(({ rule, id }) => ask(rule, id)),
    ].map((one) => [one.id, one]),
  );
  // A schedule is looked at for a rule of its own only.
  const ofSchedules = rules.ofSchedules.flatMap((rule) => (rule.enabled ? ask(rule, rule.schedule_id!) : []));
  const count = async (by: By, asked: readonly Asked[]): Promise<Counts[]> => [
    ...(await countLast(tx, by, asked.filter(isCount))),
    ...(await countShare(tx, by, asked.filter(isShare), now)),
  ];
  const counts = [
    ...(await count('agent_id', [...ofAgents.values()])),
    ...(await count('schedule_id', ofSchedules)),
  ];
  return counts.filter(isFailing).map((one) => ({
    rule: one.rule,
    subject: { id: one.id, name: one.name, agentId: one.agentId },
    cause: one.last?.getTime() ?? now,
    title: `Work Items of ${isolate(one.name)} fail`,
    detail: detailOf(one),
  }));
};

/** Agents, and schedules with a rule of their own, whose Work Items end in ERROR. */
export const failing: Condition = {
  subjectOf: ({ schedule_id }) => (schedule_id === null ? 'agent' : 'schedule'),
  ruleFor: (rules, { id }, type) =>
    type === 'schedule' ? rules.ownOf(id) : rules.narrowest({ agentId: id }),
  noun: 'agent',
  together: (agents) => `Work Items of ${agents} fail`,
  // Schedules with a rule of their own are counted at each look.
  mayFind: (look) =>
    look.rules.ofSchedules.some(({ enabled }) => enabled)
      ? sql`true`
      : sql`exists (select from work_items where ${isError(errorsFrom(look))})`,
  find,
  over: async (look, findings) => {
    const failed = new Set(findings.map(({ subject }) => subject!.id));
    return new Set(lookedAt(look).filter(({ id }) => !failed.has(id)));
  },
};
