import type { Step } from './progress.ts';

export const connectionReasons = ['unreachable', 'authentication', 'tls', 'denied'] as const;
export type ConnectionReason = (typeof connectionReasons)[number];

/**
 * The database cannot be used. The message is for a person: it has no password, and nothing that the server wrote,
 * because a server may repeat what it was sent.
 */
export class ConnectionFailure extends Error {
  readonly reason: ConnectionReason;
  /** The step that failed; null: the one that was in progress. */
  readonly step: Step | null;
  constructor(reason: ConnectionReason, message: string, step: Step | null = null) {
    super(message);
    this.name = 'ConnectionFailure';
    this.reason = reason;
    this.step = step;
  }
}

export type QueryReason = 'timeout' | 'query_failed' | 'too_large';

/** The database can be used, but not for this query. The message has nothing that the server wrote. */
export class QueryFailure extends Error {
  readonly reason: QueryReason;
  constructor(reason: QueryReason, message: string) {
    super(message);
    this.name = 'QueryFailure';
    this.reason = reason;
  }
}

/** Who takes rows in batches has failed: its own error, and none of the database. */
export class NotTaken extends Error {
  constructor(cause: unknown) {
    super('rows were not taken', { cause });
    this.name = 'NotTaken';
  }
}

/** The platform's own database is no data connection: its tables hold the secrets and the audit log. */
export const ownDatabaseFailure = (): ConnectionFailure =>
  new ConnectionFailure('denied', "This is the platform's own database, which cannot be used.", 'resolve');
