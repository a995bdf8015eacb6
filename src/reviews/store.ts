import {
  type Executor,
  json,
  type Page,
  planEachTime,
  type RawBuilder,
  sql,
  type Tx,
} from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import { type Principal, type Role, roleAllows, roles, scopesAllow, type Who } from '../lib/principal.ts';
import type { PendingApproval, Verdict, Via } from '../runs/index.ts';

export const sources = ['work_item', 'conversation'] as const;
export type Source = (typeof sources)[number];

export const reviewStates = ['open', 'decided', 'expired', 'withdrawn'] as const;
export type ReviewState = (typeof reviewStates)[number];

export const expiryOutcomes = ['deny', 'cancel', 'escalate'] as const;

/** A pending approval as people see it, with what was decided about it; null: nothing, or not yet. */
type ReviewApproval = Omit<
  PendingApproval,
  'tool_call_id' | 'definition_hash' | 'budget' | 'edited' | 'expires_at'
> &
  Omit<Verdict, 'decision'> & { decision: Verdict['decision'] | null; expires_at: string | null };

export interface Review {
  id: string;
  source: Source;
  state: ReviewState;
  work_item_id: string | null;
  conversation_id: string | null;
  run_id: string | null;
  agent_id: string;
  /** As it is called now, or was at the opening if it is deleted. */
  agent_name: string;
  /** That of the Work Item or conversation at the opening. */
  name: string | null;
  /** The principal whose conversation it is; null: all see it. */
  owner_id: string | null;
  reason: string | null;
  approvals: ReviewApproval[];
  required_role: Role;
  /** The ids of those, as `rootId` has them, who asked for the work and may not approve it; null: no one. */
  barred: string[] | null;
  timeout_seconds: number | null;
  on_expiry: (typeof expiryOutcomes)[number] | null;
  expires_at: Date | null;
  opened_at: Date;
  escalated_at: Date | null;
  closed_at: Date | null;
  closed_by: Who | null;
  via: Via | null;
}

/** Columns of `reviews r`. */
const columns = sql`r.id, r.source, r.state, r.work_item_id, r.conversation_id, r.run_id, r.agent_id,
  coalesce((select a.name from agents a where a.id = r.agent_id), r.agent_name) as agent_name, r.name, r.owner_id,
  r.reason, r.approvals, r.required_role, r.barred, r.timeout_seconds, r.on_expiry, r.expires_at, r.opened_at,
  r.escalated_at, r.closed_at, r.closed_by, r.via`;

const select = async (executor: Executor, rest: RawBuilder<unknown>): Promise<Review[]> =>
  (await sql<Review>`select ${columns} from reviews r ${rest}`.execute(executor)).rows;

const keyOf = (source: Source): RawBuilder<unknown> =>
  sql.ref(source === 'work_item' ? 'work_item_id' : 'run_id');

/** What a Work Item or run that waits shows of its review. */
export interface OpenReview {
  id: string;
  /** RFC 3339; null: it does not expire. */
  expires_at: string | null;
}

/** The expression of the `OpenReview` of the Work Item or run `id`, as jsonb; null if there is none. */
export const openReview = (source: Source, id: RawBuilder<unknown>): RawBuilder<OpenReview | null> =>
  sql`(select jsonb_build_object('id', r.id, 'expires_at',
      to_char(r.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from reviews r where r.${keyOf(source)} = ${id} and r.state = 'open')`;

export const findReview = async (executor: Executor, id: string): Promise<Review | undefined> =>
  (await select(executor, sql`where r.id = ${id}`))[0];

/** The open review of a Work Item or run. */
export const findOpenReview = async (
  executor: Executor,
  source: Source,
  id: string,
): Promise<Review | undefined> =>
  (await select(executor, sql`where r.${keyOf(source)} = ${id} and r.state = 'open'`))[0];

/** The review of a Work Item or run that opened last. */
export const findLastReview = async (
  executor: Executor,
  source: Source,
  id: string,
): Promise<Review | undefined> =>
  (await select(executor, sql`where r.${keyOf(source)} = ${id} order by r.id desc limit 1`))[0];

/** The last review of a Work Item or conversation that asked for any of these decisions. */
export const findReviewAsking = async (
  executor: Executor,
  source: Source,
  /** Of the Work Item, or of the conversation. */
  id: string,
  approvalIds: readonly string[],
): Promise<Review | undefined> => {
  const of = sql.ref(source === 'work_item' ? 'work_item_id' : 'conversation_id');
  return (
    await select(
      executor,
      sql`where r.${of} = ${id} and exists (select from jsonb_array_elements(r.approvals) a
        where a ->> 'approval_id' = any(${approvalIds}::text[])) order by r.id desc limit 1`,
    )
  )[0];
};

export interface ReviewFilter {
  state?: ReviewState | undefined;
  source?: Source | undefined;
  agent_id?: string | undefined;
  kind?: PendingApproval['kind'] | undefined;
  may_decide?: boolean | undefined;
}

/** Who sees what: members see only their own conversations. */
const seenBy = ({ role, id }: Principal): RawBuilder<unknown> =>
  roleAllows(role, 'builder') ? sql`true` : sql`(r.owner_id is null or r.owner_id = ${id})`;

/** The same as `mayDecide`. */
const decidedBy = ({ role, rootId, scopes }: Principal): RawBuilder<unknown> => {
  if (!scopesAllow(scopes, 'reviews')) return sql`false`;
  const allowed = roles.filter((one) => roleAllows(role, one));
  return sql`(r.state = 'open' and (not (r.approvals @? '$[*] ? (@.kind != "question")')
    or r.required_role = any(${allowed}::text[]) and not coalesce(${rootId} = any(r.barred), false)))`;
};

/** Reviews that the principal sees, newest first, one more than `limit`. */
export const listReviews = async (
  executor: Executor,
  principal: Principal,
  { state, source, agent_id, kind, may_decide }: ReviewFilter,
  { limit, next }: Page,
): Promise<Review[]> => {
  if (agent_id !== undefined && !isId(agent_id)) return [];
  const conditions = [
    seenBy(principal),
    ...(state === undefined ? [] : [sql`r.state = ${sql.lit(state)}`]),
    ...(source === undefined ? [] : [sql`r.source = ${source}`]),
    ...(agent_id === undefined ? [] : [sql`r.agent_id = ${agent_id}`]),
    ...(kind === undefined ? [] : [sql`r.approvals @> ${json([{ kind }])}::jsonb`]),
    ...(may_decide === undefined
      ? []
      : [may_decide ? sql`r.state = 'open' and ${decidedBy(principal)}` : sql`not ${decidedBy(principal)}`]),
    ...(next === null ? [] : [sql`r.id < ${next}`]),
  ];
  const { rows } = await sql<Review>`${planEachTime} select ${columns} from reviews r
    where ${sql.join(conditions, sql` and `)} order by r.id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

export type NewReview = Omit<Review, 'state' | 'escalated_at' | 'closed_at' | 'closed_by' | 'via'>;

/** Inserts open reviews. Those whose Work Item or run has one already are left out. Returns the ids of the others. */
export const insertReviews = async (tx: Tx, reviews: readonly NewReview[]): Promise<Set<string>> => {
  const { rows } = await sql<{ id: string }>`
    insert into reviews (id, source, work_item_id, conversation_id, run_id, agent_id, agent_name, name, owner_id, reason,
      approvals, required_role, barred, timeout_seconds, on_expiry, expires_at, opened_at)
    select id, source, work_item_id, conversation_id, run_id, agent_id, agent_name, name, owner_id, reason, approvals,
      required_role, barred, timeout_seconds, on_expiry, expires_at, opened_at
    from jsonb_to_recordset(${json(reviews)}::jsonb) as n(id uuid, source text, work_item_id uuid, conversation_id uuid,
      run_id uuid, agent_id uuid, agent_name text, name text, owner_id text, reason text, approvals jsonb,
      required_role text, barred text[], timeout_seconds integer, on_expiry text, expires_at timestamptz,
      opened_at timestamptz)
    on conflict do nothing returning id`.execute(tx);
  return new Set(rows.map(({ id }) => id));
};

interface Closing {
  state: Exclude<ReviewState, 'open'>;
  by: Who;
  via: Via | null;
  verdicts?: Readonly<Record<string, Verdict>> | undefined;
}

/** Closes those of these reviews, or of those of these Work Items, runs or conversations, that are open. Returns their ids. */
export const closeReviews = async (
  tx: Tx,
  of: 'id' | 'work_item_id' | 'run_id' | 'conversation_id',
  ids: readonly string[],
  { state, by: { kind, id, name }, via, verdicts }: Closing,
): Promise<string[]> => {
  const decided = verdicts
    ? sql`, approvals = (select coalesce(jsonb_agg(a || coalesce(${json(verdicts)}::jsonb -> (a ->> 'approval_id'), '{}') order by n), '[]')
        from jsonb_array_elements(r.approvals) with ordinality as e(a, n))`
    : sql``;
  const { rows } = await sql<{ id: string }>`
    update reviews r set state = ${state}, closed_at = platform_now(), closed_by = ${json({ kind, id, name })}::jsonb,
      via = ${via}${decided}
    where r.${sql.ref(of)} = any(${ids}::uuid[]) and r.state = 'open' returning r.id`.execute(tx);
  return rows.map((row) => row.id);
};

/** The ids of open reviews whose time is over, the oldest first. */
export const listDueReviews = async (executor: Executor, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select id from reviews
    where state = 'open' and expires_at <= (select platform_now()) order by expires_at limit ${limit}`.execute(
    executor,
  );
  return rows.map(({ id }) => id);
};

/** The open review whose time is over. */
export const findDueReview = async (tx: Tx, id: string): Promise<Review | undefined> =>
  (await select(tx, sql`where r.id = ${id} and r.state = 'open' and r.expires_at <= platform_now()`))[0];

/** The review goes on without an end. */
export const escalateReview = async (tx: Tx, id: string): Promise<void> => {
  await sql`update reviews r set expires_at = null, escalated_at = platform_now(),
      approvals = (select coalesce(jsonb_agg(a || '{"expires_at": null}' order by n), '[]')
        from jsonb_array_elements(r.approvals) with ordinality as e(a, n))
    where r.id = ${id} and r.state = 'open'`.execute(tx);
};

/** The ids of up to `limit` open reviews of a source for which the condition of `r` is true. */
export const listOpenWhere = async (
  executor: Executor,
  source: Source,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select r.id from reviews r
    where r.state = 'open' and r.source = ${source} and ${condition} limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};

/** The ids of up to `limit` rows of a query. */
export const listIds = async (
  executor: Executor,
  query: RawBuilder<unknown>,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`${query} limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};

/** Returns whether a review is open, or one of these queries has rows. */
export const isAnythingOpen = async (
  executor: Executor,
  queries: readonly RawBuilder<unknown>[],
): Promise<boolean> => {
  const others = queries.map((query) => sql` or exists (${query})`);
  const { rows } = await sql<{ some: boolean }>`
    select (exists (select from reviews where state = 'open')${sql.join(others, sql``)}) as some`.execute(
    executor,
  );
  return rows[0]!.some;
};

/** Returns whether a review is open and the condition of `r` is true. */
export const isOpenWhere = async (tx: Tx, id: string, condition: RawBuilder<unknown>): Promise<boolean> => {
  const { rows } =
    await sql`select from reviews r where r.id = ${id} and r.state = 'open' and ${condition}`.execute(tx);
  return rows.length > 0;
};

/** The number of open reviews by where they come from. */
export const countOpenReviews = async (executor: Executor): Promise<Map<Source, number>> => {
  const { rows } = await sql<{ source: Source; n: number }>`
    select source, count(*)::integer as n from reviews where state = 'open' group by source`.execute(
    executor,
  );
  return new Map(rows.map(({ source, n }) => [source, n]));
};

/** The time of the upgrade to the release that has reviews. */
export const findUpgrade = async (executor: Executor): Promise<Date | undefined> => {
  const { rows } = await sql<{ applied_at: Date }>`
    select applied_at from migrations where name = '0350_reviews.sql'`.execute(executor);
  return rows[0]?.applied_at;
};

const approvalIds = (approvals: RawBuilder<unknown>) => sql`(select coalesce(
  jsonb_agg(a -> 'approval_id' order by a ->> 'approval_id'), '[]') from jsonb_array_elements(${approvals}) a)`;

/**
 * Condition of the row `w` of a Work Item or run: it asks for other decisions than its review `r`. Those that were asked for
 * before the review opened are not compared: that would take most of the time of a pass.
 */
export const asksOther = sql`(w.pending_approvals -> 0 ->> 'requested_at')::timestamptz > r.opened_at
  and ${approvalIds(sql`w.pending_approvals`)} <> ${approvalIds(sql`r.approvals`)}`;

/** Condition of the row `w` of a Work Item or run: it has no open review. */
export const noReview = (source: Source): RawBuilder<unknown> =>
  sql`not exists (select from reviews r where r.${keyOf(source)} = w.id and r.state = 'open')`;
