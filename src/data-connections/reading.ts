import type { Database } from '../database/index.ts';
import { messageOf, notFound, unprocessable } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { connectionUnusable } from './data-connections.ts';
import type { Session } from './engines/engine.ts';
import { ConnectionFailure, QueryFailure } from './engines/failures.ts';
import type { Pools } from './pools.ts';
import type { ConnectionSettingsStore, OpenedConnection } from './settings.ts';
import { type DataConnectionRow, findDataConnection, updateStatus } from './store.ts';

/**
 * The age of the stored result of the last attempt before the same result of a query is stored again, in
 * milliseconds. A test stores its result always: its caller looks at the status next.
 */
const statusAgeMs = 60_000;

export interface ReadingParts {
  db: Database;
  log: Logger;
  settings: ConnectionSettingsStore;
  pools: Pools;
}

/** Uses the databases of data connections. While it waits for one it holds no connection of the platform's own. */
export const createReading = ({ db, log, settings, pools }: ReadingParts) => {
  /**
   * Stores what came of an attempt, unless the same is stored and younger than `maxAgeMs`. Rejects never: the caller has
   * its result.
   */
  const recordStatus = async (
    row: DataConnectionRow,
    failure: string | null,
    maxAgeMs = statusAgeMs,
  ): Promise<void> => {
    const same =
      failure === null ? row.state === 'ok' : row.state === 'unreachable' && row.detail === failure;
    if (same && row.checked_at !== null && Date.now() - row.checked_at.getTime() < maxAgeMs) return;
    await db
      .run((executor) => updateStatus(executor, row, failure))
      .catch((error) =>
        log.warn({ error: messageOf(error) }, 'cannot store the status of a data connection'),
      );
  };

  /**
   * Runs `fn` with a session of the connection. Throws 412 if the database cannot be used, 422 with `reason` if it
   * refuses a query, and 503 if all sessions stay in use for 30 s.
   */
  const withSession = async <T>(
    connection: OpenedConnection,
    fn: (session: Session, connection: OpenedConnection) => Promise<T>,
  ): Promise<T> => {
    const { row } = connection;
    try {
      const result = await pools.use(connection, (session) => fn(session, connection));
      await recordStatus(row, null);
      return result;
    } catch (error) {
      if (error instanceof QueryFailure) {
        await recordStatus(row, null);
        throw unprocessable([{ path: 'query', message: error.message }], { reason: error.reason });
      }
      if (!(error instanceof ConnectionFailure)) throw error;
      await recordStatus(row, error.message);
      throw connectionUnusable(row.id, error.reason, error.message);
    }
  };

  return {
    recordStatus,
    withSession,

    /** Like `withSession`, by the id. Throws 404 for an unknown one. */
    withSessionOf: async <T>(
      id: string,
      fn: (session: Session, connection: OpenedConnection) => Promise<T>,
    ): Promise<T> => {
      const row = await db.run((executor) => findDataConnection(executor, id));
      if (!row) throw notFound('data connection');
      return withSession(settings.open(row), fn);
    },
  };
};

export type Reading = ReturnType<typeof createReading>;
