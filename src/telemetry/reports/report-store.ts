import { countNames } from '@agent-platform/otlp/log';
import { type Database, json, sql } from '../../database/index.ts';
import type { DeliveryReport } from '../delivery/report.ts';
import type { OtherReport } from './health.ts';

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
] as const satisfies (keyof DeliveryReport)[];
const columnList = sql.join(columns.map((name) => sql.ref(name)));
const replaced = sql.join(
  columns
    .filter((name) => name !== 'number' && name !== 'last_success_at')
    .map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
);

/**
 * The delivery reports of all replicas in the table `telemetry_accounts` (migrations/0050_telemetry_accounts.sql). A
 * replica is known by the id of its telemetry log.
 */
export class ReportStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Replaces what `replicaId` reported of these integrations before. An error is new if its text or the time of the next
   * attempt changed. A replica that has sent nothing since its start leaves the last success that it reported before.
   */
  async publish(replicaId: string, reports: readonly DeliveryReport[]): Promise<void> {
    await this.#db.run((executor) =>
      sql`insert into telemetry_accounts (replica_id, ${columnList}, last_error_at)
        select ${replicaId}::uuid, ${columnList}, case when last_error is not null then platform_now() end from jsonb_to_recordset(${json(reports)}::jsonb) as report(
          number integer, delivered bigint, rejected bigint, dead_lettered bigint, expired bigint, discarded bigint,
          queued bigint, backlog_bytes bigint, oldest_at timestamptz, state text, last_success_at timestamptz,
          last_error text, next_attempt_at timestamptz)
        on conflict (number, replica_id) do update set ${replaced}, updated_at = platform_now(),
          last_success_at = coalesce(excluded.last_success_at, telemetry_accounts.last_success_at),
          last_error_at = case when excluded.last_error is null then null
            when (excluded.last_error, excluded.next_attempt_at) is distinct from
              (telemetry_accounts.last_error, telemetry_accounts.next_attempt_at) then platform_now()
            else telemetry_accounts.last_error_at end`.execute(executor),
    );
  }

  /** Returns the last report on an integration as `replicaId`: by another replica if they share a telemetry log. */
  async last(replicaId: string, number: number): Promise<DeliveryReport | undefined> {
    const { rows } = await this.#db.run((executor) =>
      sql<DeliveryReport>`select ${columnList} from telemetry_accounts
        where number = ${number} and replica_id = ${replicaId}::uuid`.execute(executor),
    );
    return rows[0];
  }

  /** Returns the last reports of the other replicas on an integration. */
  async ofOthers(replicaId: string, number: number): Promise<OtherReport[]> {
    const { rows } = await this.#db.run((executor) =>
      sql<OtherReport>`
        select ${columnList}, (extract(epoch from platform_now() - updated_at) * 1000)::float8 as silent_ms
        from telemetry_accounts where number = ${number} and replica_id <> ${replicaId}::uuid
        order by updated_at desc`.execute(executor),
    );
    return rows;
  }
}
