import { z } from 'zod';
import { type Executor, sql, type Table, type Tx } from '../database/index.ts';
import { text } from '../http/index.ts';
import {
  column,
  generated,
  nullable,
  type RowOf,
  resource,
  stamps,
  type TableOf,
  withDefault,
} from '../resource/index.ts';
import type { Provider } from './settings.ts';

const debug = z.boolean().describe('Whether application and infrastructure traces are sent as well.');

/** Integrations. What their providers need is in `settings`. */
export const integrations = resource(
  'observability_integrations',
  {
    version: nullable(text(200, 1).describe('The version of the configuration.'))
      .patchedAs('null clears it.')
      .shownAs(z.string().nullable()),
    description: nullable(text(10_000)).patchedAs('null clears it.').namedAs('name'),
    is_system: withDefault(z.boolean(), false)
      .fixed()
      .shownAs(z.boolean().describe('Whether the deployment manages it, not a user.')),
    debug: withDefault(debug, false).shownAs(
      z.boolean().describe('Whether it also receives application and infrastructure traces.'),
    ),
  },
  {
    id: column<string>(),
    number: generated<number>(),
    provider: column<Provider>(),
    is_enabled: column<boolean>(),
    /** The other settings: ProviderSettings, sealed. */
    settings: column<string>(),
    ...stamps,
  },
);
const { columns } = integrations;

export type IntegrationRow = RowOf<typeof integrations>;

export interface ScopeRow {
  integration_id: string;
  scope: 'global' | 'agent';
  agent_id: string | null;
  created_at: Date;
}

declare module '../database/database.ts' {
  interface Schema {
    observability_integrations: TableOf<typeof integrations>;
    observability_scopes: Table<ScopeRow, 'created_at'>;
    observability_deleted_integrations: Pick<IntegrationRow, 'number' | 'id'>;
    observability_credential_reads: { principal_id: string; integration_id: string; read_at: Date };
  }
}

const scopeColumns = ['integration_id', 'scope', 'agent_id', 'created_at'] as const;

/** The integration is global or, if `agentId` is given, the agent's own. */
const inScope = (agentId: string | null) => sql<boolean>`exists (
  select 1 from observability_scopes s where s.integration_id = observability_integrations.id
    and (s.scope = 'global' or s.agent_id = ${agentId}::uuid))`;

/** The audit log has a read of the credentials by this principal within the last hour. */
const readAudited = (principalId: string) => sql<boolean>`exists (
  select 1 from observability_credential_reads r where r.principal_id = ${principalId}
    and r.integration_id = observability_integrations.id and r.read_at > platform_now() - interval '1 hour')`;

export interface IntegrationFilter {
  provider?: Provider;
  /** Only integrations in scope for this agent; null: for an unknown agent. Undefined: all. */
  agentId?: string | null;
}

export type ReadRow = IntegrationRow & { read_audited: boolean };

/** Newest first: numbers grow in the order of creation. */
export const listIntegrations = (
  executor: Executor,
  filter: IntegrationFilter,
  principalId: string,
): Promise<ReadRow[]> => {
  let query = executor
    .selectFrom('observability_integrations')
    .select(columns)
    .select(readAudited(principalId).as('read_audited'))
    .orderBy('number', 'desc');
  if (filter.provider) query = query.where('provider', '=', filter.provider);
  if (filter.agentId !== undefined) query = query.where(inScope(filter.agentId));
  return query.execute();
};

export const findIntegration = (
  executor: Executor,
  id: string,
  principalId: string,
): Promise<ReadRow | undefined> =>
  executor
    .selectFrom('observability_integrations')
    .select(columns)
    .select(readAudited(principalId).as('read_audited'))
    .where('id', '=', id)
    .executeTakeFirst();

/** The row, locked until the transaction ends: changes of an integration and its scopes run one at a time. */
export const findLockedIntegration = (tx: Tx, id: string): Promise<IntegrationRow | undefined> =>
  tx
    .selectFrom('observability_integrations')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export type NewIntegration = Pick<
  IntegrationRow,
  'id' | 'provider' | 'is_enabled' | 'settings' | 'version' | 'description' | 'is_system' | 'debug'
>;

export const insertIntegration = (tx: Tx, row: NewIntegration): Promise<IntegrationRow> =>
  tx.insertInto('observability_integrations').values(row).returning(columns).executeTakeFirstOrThrow();

export const deleteIntegration = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('observability_integrations').where('id', '=', id).execute();
};

/**
 * Writes that `principalId` reads the credentials of these integrations. Returns the ids for which this is the first
 * read in an hour. Exact under concurrency: of two equal reads at once the second waits for the row of the first, and
 * then finds it.
 */
export const insertReads = async (tx: Tx, principalId: string, ids: readonly string[]): Promise<string[]> => {
  await sql`delete from observability_credential_reads
    where read_at <= platform_now() - interval '1 hour'`.execute(tx);
  const { rows } = await sql<{ integration_id: string }>`
    insert into observability_credential_reads (principal_id, integration_id)
    select ${principalId}, id from observability_integrations where id = any(${ids}::uuid[]) order by id for key share
    on conflict do nothing returning integration_id`.execute(tx);
  return rows.map((row) => row.integration_id);
};

/** Oldest first. */
export const listScopes = (executor: Executor, integrationId: string): Promise<ScopeRow[]> =>
  executor
    .selectFrom('observability_scopes')
    .select(scopeColumns)
    .where('integration_id', '=', integrationId)
    .orderBy('created_at')
    .orderBy('agent_id', (order) => order.asc().nullsFirst())
    .execute();

/** The scopes of these integrations, oldest first, with the names of their agents. */
export const listNamedScopes = (
  executor: Executor,
  integrationIds: readonly string[],
): Promise<(ScopeRow & { agent_name: string | null })[]> =>
  executor
    .selectFrom('observability_scopes as s')
    .leftJoin('agents as a', 'a.id', 's.agent_id')
    .select(['s.integration_id', 's.scope', 's.agent_id', 's.created_at', 'a.name as agent_name'])
    .where('s.integration_id', 'in', [...integrationIds, '00000000-0000-0000-0000-000000000000'])
    .orderBy('s.created_at')
    .orderBy('s.agent_id', (order) => order.asc().nullsFirst())
    .execute();

const scopeIs = (integrationId: string, agentId: string | null) =>
  sql<boolean>`integration_id = ${integrationId} and agent_id is not distinct from ${agentId}::uuid`;

export const findScope = (
  executor: Executor,
  integrationId: string,
  agentId: string | null,
): Promise<ScopeRow | undefined> =>
  executor
    .selectFrom('observability_scopes')
    .select(scopeColumns)
    .where(scopeIs(integrationId, agentId))
    .executeTakeFirst();

/** `agentId` null: the global scope. Otherwise the agent is locked. */
export const insertScope = (tx: Tx, integrationId: string, agentId: string | null): Promise<ScopeRow> =>
  tx
    .insertInto('observability_scopes')
    .values({
      integration_id: integrationId,
      scope: agentId === null ? 'global' : 'agent',
      agent_id: agentId,
    })
    .returning(scopeColumns)
    .executeTakeFirstOrThrow();

/** Returns whether there was such a scope. */
export const deleteScopeRow = async (
  tx: Tx,
  integrationId: string,
  agentId: string | null,
): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('observability_scopes')
    .where(scopeIs(integrationId, agentId))
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};

export interface DeliveryRow
  extends Pick<
    IntegrationRow,
    'id' | 'number' | 'provider' | 'is_enabled' | 'debug' | 'settings' | 'revision'
  > {
  global: boolean;
  /** The agents that the integration is assigned to. */
  agents: string[];
}

/** All integrations as delivery and routing use them, in one statement. */
export const listForDelivery = (executor: Executor): Promise<DeliveryRow[]> =>
  executor
    .selectFrom('observability_integrations')
    .select(['id', 'number', 'provider', 'is_enabled', 'debug', 'settings', 'revision'])
    .select([
      sql<boolean>`exists (select 1 from observability_scopes s
        where s.integration_id = observability_integrations.id and s.scope = 'global')`.as('global'),
      sql<string[]>`array(select s.agent_id::text from observability_scopes s
        where s.integration_id = observability_integrations.id and s.scope = 'agent' order by 1)`.as(
        'agents',
      ),
    ])
    .orderBy('number')
    .execute();

/** The ids of deleted integrations (migrations/0064_deleted_integrations.sql). */
export const listDeleted = (executor: Executor): Promise<Pick<IntegrationRow, 'number' | 'id'>[]> =>
  executor.selectFrom('observability_deleted_integrations').select(['number', 'id']).execute();

/** The enabled integrations in scope for the agent (null: an unknown agent), oldest first. */
export const listEffective = (
  executor: Executor,
  agentId: string | null,
): Promise<Pick<IntegrationRow, 'id' | 'settings' | 'description'>[]> =>
  executor
    .selectFrom('observability_integrations')
    .select(['id', 'settings', 'description'])
    .where('is_enabled', '=', true)
    .where(inScope(agentId))
    .orderBy('number')
    .execute();

/** Makes sure that the next integration gets a number above `number`. */
export const reserveNumbersAbove = async (tx: Tx, number: number): Promise<void> => {
  await sql`select setval(s::regclass, greatest(${number}::bigint, coalesce(pg_sequence_last_value(s::regclass), 1)))
    from pg_get_serial_sequence('observability_integrations', 'number') as s`.execute(tx);
};

export const numberExists = async (executor: Executor, number: number): Promise<boolean> => {
  const { rows } = await sql`select 1 from observability_integrations where number = ${number}`.execute(
    executor,
  );
  return rows.length > 0;
};
