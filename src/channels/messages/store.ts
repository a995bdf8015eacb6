import { type Executor, type Json, json, notify, sql, type Table, type Tx } from '../../database/index.ts';
import type { Announced, SentMessage } from '../../lib/announcer.ts';
import type { ClaimLimits } from '../../lib/attempt-loop.ts';
import { newId } from '../../lib/ids.ts';
import type { ChannelKind } from '../settings.ts';
import type { EventType } from './subject.ts';

/** What was posted last, and what its receiver calls it. */
export interface Posted {
  type: EventType;
  /** The conversation and the time of a message in Slack. */
  conversation?: string;
  ts?: string;
  /** The Message-ID of the first mail. */
  message_id?: string;
}

export interface MessageRow {
  id: string;
  subject_type: Announced['type'];
  subject_id: string;
  channel_id: string;
  channel_name: string;
  recipient: string;
  recipient_name: string | null;
  state: SentMessage['state'];
  version: number;
  attempts: number;
  failures: number;
  last_error: string | null;
  next_attempt_at: Date | null;
  leased_until: Date | null;
  due_since: Date;
  posted: Posted | null;
  delivered_at: Date | null;
  created_at: Date;
}

type Defaulted =
  | 'recipient_name'
  | 'state'
  | 'version'
  | 'attempts'
  | 'failures'
  | 'last_error'
  | 'next_attempt_at'
  | 'leased_until'
  | 'due_since'
  | 'delivered_at'
  | 'created_at';

declare module '../../database/database.ts' {
  interface Schema {
    channel_messages: Table<Omit<MessageRow, 'posted'>, Defaulted> & { posted: Json<Posted | null> };
  }
}

/** The channel of the database that wakes the loop of messages. */
export const messagesDue = 'channel_messages';

/** The recipient that is the channel itself: its conversation or endpoint. */
export const theChannel = 'channel';

/** A message before it is stored. `recipient`: `channel`, an address, or the id of a person, whose name it has. */
export interface NewMessage {
  channelId: string;
  recipient: string;
  recipientName?: string;
}

/** Adds messages that are due at once. A channel and recipient that has one already gets no other. */
export const insertMessages = async (
  tx: Tx,
  what: Announced,
  messages: readonly NewMessage[],
): Promise<void> => {
  if (messages.length === 0) return;
  await sql`insert into channel_messages (id, subject_type, subject_id, channel_id, channel_name, recipient, recipient_name)
    select m.id, ${what.type}, ${what.id}::uuid, c.id, c.name, m.recipient, m.recipient_name
    from unnest(${messages.map(() => newId())}::uuid[], ${messages.map((m) => m.channelId)}::uuid[], ${messages.map((m) => m.recipient)}::text[],
        ${messages.map((m) => m.recipientName ?? null)}::text[])
      as m(id, channel_id, recipient, recipient_name)
    join channels c on c.id = m.channel_id
    on conflict (subject_id, channel_id, recipient) do nothing`.execute(tx);
  await notify(tx, messagesDue);
};

/** Makes the messages of a review or an alert due again. `kind`: only those in channels of this kind. */
export const raiseVersions = async (tx: Tx, what: Announced, kind?: ChannelKind): Promise<void> => {
  const { numAffectedRows } = await sql`update channel_messages m set version = version + 1, failures = 0,
      state = case when state = 'failed' and posted is null then 'failed' else 'pending' end,
      next_attempt_at = case when state = 'failed' and posted is null then null else platform_now() end,
      due_since = platform_now()
    where subject_id = ${what.id} and subject_type = ${what.type}
      ${kind === undefined ? sql`` : sql`and exists (select from channels c where c.id = m.channel_id and c.kind = ${kind})`}`.execute(
    tx,
  );
  if (numAffectedRows && numAffectedRows > 0n) await notify(tx, messagesDue);
};

/** What waits in a channel is due at once, with all its attempts. One in flight is not sent a second time. */
export const makeMessagesDue = async (tx: Tx, channelId: string): Promise<void> => {
  await sql`update channel_messages set failures = 0, next_attempt_at = platform_now(), due_since = platform_now()
    where channel_id = ${channelId} and state = 'pending'`.execute(tx);
  await notify(tx, messagesDue);
};

/** Gives up what waits in a channel that is deleted. */
export const failMessagesOfChannel = async (tx: Tx, channelId: string): Promise<void> => {
  await sql`update channel_messages set state = 'failed', next_attempt_at = null, leased_until = null,
      last_error = 'The channel was deleted.'
    where channel_id = ${channelId} and state = 'pending'`.execute(tx);
  await sql`delete from route_steps where channel_id = ${channelId}`.execute(tx);
};

/** A message that this replica sends, with its channel. */
export interface ClaimedMessage
  extends Pick<
    MessageRow,
    | 'id'
    | 'subject_type'
    | 'subject_id'
    | 'channel_id'
    | 'recipient'
    | 'recipient_name'
    | 'version'
    | 'attempts'
  > {
  posted: Posted | null;
  failures: number;
  channel_kind: ChannelKind;
  channel_settings: string;
  channel_revision: number;
  include_arguments: boolean;
}

/** A channel that is on, and that no one asked to wait. */
const isOpen = sql`c.enabled and (c.paused_until is null or c.paused_until <= platform_now())`;
const isDue = sql`state = 'pending' and next_attempt_at <= platform_now()
  and (leased_until is null or leased_until <= platform_now())`;

/**
 * Claims up to `limit` messages that are due, for `leaseSeconds`: in that time no other replica sends them, and after it
 * they are due again. At most `perDestination` of one channel, less those of `inFlight`. What became of something that was
 * posted goes before what is new.
 */
export const claimMessages = async (
  tx: Tx,
  { limit, perDestination, inFlight, leaseSeconds }: ClaimLimits,
): Promise<ClaimedMessage[]> => {
  const { rows } = await sql<ClaimedMessage>`
    with busy as (
      select channel_id, n from unnest(${[...inFlight.keys()]}::uuid[], ${[...inFlight.values()]}::integer[]) as b(channel_id, n)
    ), due as (
      select first.id from channels c left join busy b on b.channel_id = c.id cross join lateral (
        select id, (posted is null) as fresh, next_attempt_at from channel_messages
        where channel_id = c.id and ${isDue}
        order by (posted is null), next_attempt_at
        limit greatest(0, ${perDestination}::integer - coalesce(b.n, 0))) first
      where ${isOpen}
      order by first.fresh, first.next_attempt_at limit ${limit}
    ), free as (
      select id from channel_messages where id in (select id from due) and ${isDue} for update skip locked
    )
    update channel_messages m set attempts = attempts + 1,
      leased_until = platform_now() + make_interval(secs => ${leaseSeconds})
    from free, channels c
    where m.id = free.id and c.id = m.channel_id
    returning m.id, m.subject_type, m.subject_id, m.channel_id, m.recipient, m.recipient_name, m.version, m.attempts,
      m.failures, m.posted, c.kind as channel_kind, c.settings as channel_settings, c.revision as channel_revision,
      c.include_arguments`.execute(tx);
  return rows;
};

/** What came of an attempt. `retryInMs`: how long until the next one, if there is one. */
export interface AttemptEnd {
  state: 'delivered' | 'failed' | 'pending';
  error: string | null;
  posted: Posted | null;
  retryInMs: number | null;
}

/** For how long a message is tried, in hours. */
const tryHours = 24;

/**
 * Records how the claimed attempt ended, and returns the state of the message. Nothing changes if it was claimed again
 * since. A message that changed in the meantime stays pending, and is due.
 */
export const endAttempt = async (
  executor: Executor,
  { id, attempts, version }: Pick<MessageRow, 'id' | 'attempts' | 'version'>,
  { state, error, posted, retryInMs }: AttemptEnd,
): Promise<SentMessage['state'] | null> => {
  const { rows } = await sql<{ state: SentMessage['state'] }>`
    with ended as (
      select id, case
          when version <> ${version} and (${state} <> 'failed' or posted is not null) then 'changed'
          when ${state} = 'pending' and due_since <= platform_now() - make_interval(hours => ${tryHours}) then 'failed'
          else ${state} end as state
      from channel_messages where id = ${id} and attempts = ${attempts} for update
    )
    update channel_messages m set leased_until = null,
      state = case ended.state when 'changed' then 'pending' else ended.state end,
      posted = coalesce(${posted === null ? null : json(posted)}::jsonb, m.posted),
      failures = case when ${state} = 'pending' then m.failures + 1 else 0 end,
      last_error = ${error},
      delivered_at = case when ${state} = 'delivered' then platform_now() else m.delivered_at end,
      next_attempt_at = case ended.state
        when 'changed' then platform_now()
        when 'pending' then platform_now() + ${retryInMs ?? 0}::float8 * interval '1 millisecond' end
    from ended where m.id = ended.id
    returning m.state`.execute(executor);
  return rows[0]?.state ?? null;
};

/** Gives a claimed message back: it is due now, and the attempt does not count as a failure. */
export const releaseMessage = async (
  executor: Executor,
  { id, attempts }: Pick<MessageRow, 'id' | 'attempts'>,
): Promise<void> => {
  await sql`update channel_messages set leased_until = null
    where id = ${id} and attempts = ${attempts} and state = 'pending'`.execute(executor);
};

/** Removes a message whose review or alert is gone. */
export const deleteMessage = async (executor: Executor, id: string): Promise<void> => {
  await executor.deleteFrom('channel_messages').where('id', '=', id).execute();
};

/** Milliseconds until a message is due; 0 if one is, null if none waits. `except`: channels without a free place. */
export const nextMessageIn = async (
  executor: Executor,
  except: readonly string[],
): Promise<number | null> => {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(greatest(m.next_attempt_at, m.leased_until, c.paused_until)) - platform_now()) * 1000)::float8
      as ms
    from channels c join channel_messages m on m.channel_id = c.id and m.state = 'pending'
    where c.enabled and c.id <> all(${except}::uuid[])`.execute(executor);
  const ms = rows[0]!.ms;
  return ms === null ? null : Math.max(0, Math.ceil(ms));
};

/** The messages of these reviews or alerts, oldest first. */
export const listMessages = async (
  executor: Executor,
  type: Announced['type'],
  subjectIds: readonly string[],
): Promise<(SentMessage & { subject_id: string })[]> => {
  const { rows } = await sql<
    Omit<SentMessage, 'to'> & { subject_id: string; recipient: string; recipient_name: string | null }
  >`
    select m.subject_id, m.channel_id, coalesce(c.name, m.channel_name) as channel_name, m.recipient, m.recipient_name,
      m.state, m.attempts, m.last_error, m.delivered_at,
      case when m.state = 'pending' then greatest(m.next_attempt_at, m.leased_until) end as next_attempt_at
    from channel_messages m left join channels c on c.id = m.channel_id
    where m.subject_type = ${type} and m.subject_id = any(${subjectIds}::uuid[])
    order by m.subject_id, m.id`.execute(executor);
  return rows.map(({ recipient, recipient_name, ...row }) => ({
    ...row,
    to: recipient_name === null ? recipient : { user_id: recipient, name: recipient_name },
  }));
};

/** Where a message of Slack was posted: what a click may name another copy of. */
export const findPostedInSlack = async (
  executor: Executor,
  what: Announced,
  channelId: string,
  at: { conversation: string; ts: string },
): Promise<boolean> => {
  const { rows } = await sql`select from channel_messages
    where subject_id = ${what.id} and subject_type = ${what.type} and channel_id = ${channelId}
      and posted ->> 'conversation' = ${at.conversation} and posted ->> 'ts' = ${at.ts}`.execute(executor);
  return rows.length > 0;
};

/** Returns the number of messages that have waited for more than a minute to be delivered, counted up to 10,000. */
export const countOverdueMessages = async (executor: Executor): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from (
    select from channels c join channel_messages m on m.channel_id = c.id and m.state = 'pending'
    where c.enabled and m.due_since < platform_now() - interval '1 minute' limit 10000) overdue`.execute(
    executor,
  );
  return rows[0]!.n;
};
