import { type Database, sql } from '../database/index.ts';
import { type Account, countNames, type SharedAccounts } from '../telemetry/index.ts';

type AccountRow = Omit<Account, 'oldestAt' | 'lastSuccessAt' | 'lastError' | 'nextAttemptAt'> & {
  oldest_at: Date | null;
  last_success_at: Date | null;
  last_error: string | null;
  next_attempt_at: Date | null;
};

const date = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

const toRow = (account: Account) => {
  const { oldestAt, lastSuccessAt, lastError, nextAttemptAt, ...same } = account;
  return {
    ...same,
    oldest_at: date(oldestAt),
    last_success_at: date(lastSuccessAt),
    last_error: lastError,
    next_attempt_at: date(nextAttemptAt),
  };
};

const columns = [
  'number',
  ...countNames,
  'queued',
  'backlog_bytes',
  'oldest_at',
  'state',
  'last_success_at',
  'last_error',
  'next_attempt_at',
] as const;
const columnList = sql.join(columns.map((name) => sql.ref(name)));

const fromRow = <T extends AccountRow>({
  oldest_at,
  last_success_at,
  last_error,
  next_attempt_at,
  ...same
}: T) => ({
  ...same,
  oldestAt: oldest_at?.getTime() ?? null,
  lastSuccessAt: last_success_at?.getTime() ?? null,
  lastError: last_error,
  nextAttemptAt: next_attempt_at?.getTime() ?? null,
});

/** The accounts of all replicas in the table `telemetry_accounts` (migrations/0050_telemetry_accounts.sql). */
export const databaseAccounts = (db: Database): SharedAccounts => ({
  publish: async (replicaId, accounts) => {
    const rows = JSON.stringify(accounts.map(toRow));
    const replaced = sql.join(
      columns
        .filter((name) => name !== 'number')
        .map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
    );
    await db.run((executor) =>
      sql`insert into telemetry_accounts (replica_id, ${columnList})
        select ${replicaId}::uuid, ${columnList} from jsonb_to_recordset(${rows}::jsonb) as said(
          number integer, delivered bigint, rejected bigint, dead_lettered bigint, expired bigint, discarded bigint,
          queued bigint, backlog_bytes bigint, oldest_at timestamptz, state text, last_success_at timestamptz,
          last_error text, next_attempt_at timestamptz)
        on conflict (number, replica_id) do update set ${replaced}, updated_at = platform_now()`.execute(
        executor,
      ),
    );
  },
  lastSaid: async (replicaId, number) => {
    const { rows } = await db.run((executor) =>
      sql<AccountRow>`select ${columnList} from telemetry_accounts
        where number = ${number} and replica_id = ${replicaId}::uuid`.execute(executor),
    );
    return rows[0] && fromRow(rows[0]);
  },
  ofOthers: async (replicaId, number) => {
    const { rows } = await db.run((executor) =>
      sql<AccountRow & { silent_ms: number }>`
        select ${columnList}, (extract(epoch from platform_now() - updated_at) * 1000)::float8 as silent_ms
        from telemetry_accounts where number = ${number} and replica_id <> ${replicaId}::uuid
        order by updated_at desc`.execute(executor),
    );
    return rows.map(({ silent_ms, ...row }) => ({ ...fromRow(row), silentMs: silent_ms }));
  },
});
