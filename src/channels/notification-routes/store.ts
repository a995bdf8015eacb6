import {
  type Executor,
  type Json,
  json,
  type Page,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../../database/index.ts';
import type { Announced } from '../../lib/announcer.ts';
import { withoutUndefined } from '../../lib/objects.ts';
import type { Role } from '../../lib/principal.ts';
import type { AlertMatch, Recipients, ReviewMatch, RoutePurpose, Step } from './schemas.ts';

export interface RouteRow {
  id: string;
  name: string;
  enabled: boolean;
  position: number;
  for: RoutePurpose;
  match: ReviewMatch | AlertMatch;
  steps: Step[];
  decide_role: Role | null;
  created_by: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

interface StepRow {
  id: string;
  subject_type: Announced['type'];
  subject_id: string;
  channel_id: string;
  recipients: Recipients;
  due_at: Date;
}

declare module '../../database/database.ts' {
  interface Schema {
    routes: Table<Omit<RouteRow, 'match' | 'steps'>, 'revision' | 'created_at' | 'updated_at'> & {
      match: Json<RouteRow['match']>;
      steps: Json<Step[]>;
    };
    route_steps: Table<Omit<StepRow, 'recipients'>, 'id'> & { recipients: Json<Recipients> };
  }
}

const columns = [
  'id',
  'name',
  'enabled',
  'position',
  'for',
  'match',
  'steps',
  'decide_role',
  'created_by',
  'revision',
  'created_at',
  'updated_at',
] as const;

/** Newest first. */
export const listRoutes = (
  executor: Executor,
  { for: purpose, ...page }: Page & { for?: RoutePurpose | undefined },
): Promise<RouteRow[]> => {
  let query = executor.selectFrom('routes').select(columns);
  if (purpose !== undefined) query = query.where('for', '=', purpose);
  return selectPage(query, page);
};

export const findRoute = (executor: Executor, id: string): Promise<RouteRow | undefined> =>
  executor.selectFrom('routes').select(columns).where('id', '=', id).executeTakeFirst();

export const findLockedRoute = (tx: Tx, id: string): Promise<RouteRow | undefined> =>
  tx.selectFrom('routes').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

/** The routes of a purpose that are on, in the order in which they are looked at. */
export const listRoutesInOrder = (executor: Executor, purpose: RoutePurpose): Promise<RouteRow[]> =>
  executor
    .selectFrom('routes')
    .select(columns)
    .where('for', '=', purpose)
    .where('enabled', '=', true)
    .orderBy('position')
    .orderBy('id')
    .execute();

export const countRoutes = async (executor: Executor): Promise<number> => {
  const { count } = await executor
    .selectFrom('routes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};

/** The ids of at most `limit` routes that name a channel, in the order of their ids. */
export const listRoutesOfChannel = async (
  executor: Executor,
  channelId: string,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select id from routes
    where steps @> ${json([{ channel_id: channelId }])}::jsonb order by id limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};

type Stored = Pick<RouteRow, 'name' | 'enabled' | 'position' | 'match' | 'steps' | 'decide_role'>;

export const insertRoute = (
  tx: Tx,
  { match, steps, ...fields }: Stored & Pick<RouteRow, 'id' | 'for' | 'created_by'>,
): Promise<RouteRow> =>
  tx
    .insertInto('routes')
    .values({ ...fields, match: json(match), steps: json(steps) })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Changes the locked row and raises its revision. */
export const updateRouteRow = (
  tx: Tx,
  id: string,
  { match, steps, ...fields }: Partial<Stored>,
): Promise<RouteRow> =>
  tx
    .updateTable('routes')
    .set({
      ...withoutUndefined(fields),
      ...(match && { match: json(match) }),
      ...(steps && { steps: json(steps) }),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

export const deleteRouteRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('routes').where('id', '=', id).execute();
};

/** Adds steps that are sent later. */
export const insertSteps = async (tx: Tx, what: Announced, steps: readonly Step[]): Promise<void> => {
  if (steps.length === 0) return;
  await sql`insert into route_steps (subject_type, subject_id, channel_id, recipients, due_at)
    select ${what.type}, ${what.id}::uuid, s.channel_id, s.recipients::jsonb, platform_now() + make_interval(mins => s.minutes)
    from unnest(${steps.map((s) => s.channel_id)}::uuid[], ${steps.map((s) => json(s.to))}::text[],
      ${steps.map((s) => s.after_minutes)}::integer[]) as s(channel_id, recipients, minutes)`.execute(tx);
};

type TakenStep = Pick<StepRow, 'subject_type' | 'subject_id' | 'channel_id' | 'recipients'>;

const isDue = sql`due_at <= platform_now()`;

/** Whether steps are due. */
export const someStepIsDue = sql<boolean>`exists (select from route_steps where ${isDue})`;

/** Takes at most `limit` steps that are due. Whoever takes them sends them in the same transaction. */
export const takeDueSteps = async (tx: Tx, limit: number): Promise<TakenStep[]> => {
  const { rows } = await sql<TakenStep>`delete from route_steps where id in (
      select id from route_steps where ${isDue} order by due_at limit ${limit} for update skip locked)
    returning subject_type, subject_id, channel_id, recipients`.execute(tx);
  return rows;
};

/** Takes the steps of a review or an alert that are not sent yet. */
export const takeStepsOf = async (tx: Tx, what: Announced): Promise<TakenStep[]> => {
  const { rows } =
    await sql<TakenStep>`delete from route_steps where subject_id = ${what.id} and subject_type = ${what.type}
    returning subject_type, subject_id, channel_id, recipients`.execute(tx);
  return rows;
};
