import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { sessionStatements } from '@agent-platform/sql';
import { type Connection, createConnection, type FieldPacket } from 'mysql2';
import { tlsOptions } from '../../lib/tls.ts';
import type { Engine, OpenParts, ReadQuery, ServerInfo, Session } from './engine.ts';
import { ConnectionFailure, NotTaken, QueryFailure } from './failures.ts';
import { listMysqlTables, writableSql } from './mysql-catalog.ts';
import { queryFailure, signInFailure } from './mysql-failures.ts';
import { datatypeOfField, isFloat, shortestFloat } from './mysql-types.ts';
import { Progress } from './progress.ts';
import type { ServerSettings } from './settings.ts';
import { guarded, openSocket, tlsFailure } from './socket.ts';
import { RowCollector, type Rows } from './values.ts';
import { watched } from './watch.ts';

const killWithinMs = 5_000;

/** Begins to sign in over an open connection. The driver negotiates TLS in the middle of it. */
const begin = (
  socket: Socket,
  { host, port, database, username, password, tls }: ServerSettings,
): Connection => {
  const options = tlsOptions(tls);
  if (tls.mode !== 'disable') {
    try {
      // In the driver it would throw while it receives data.
      createSecureContext(options);
    } catch (error) {
      throw tlsFailure(error);
    }
    // Node checks the certificate for this name when the host is an address: the driver gives it no other.
    Object.assign(socket, { _host: host });
  }
  const connection = createConnection({
    host,
    port,
    database,
    user: username,
    password: password ?? '',
    stream: () => socket,
    ...(tls.mode === 'disable'
      ? {}
      : { ssl: { ...options, verifyIdentity: tls.mode === 'verify_full' } as Record<string, unknown> }),
    // A server may ask for any file of the client with LOAD DATA LOCAL.
    flags: ['-LOCAL_FILES'],
    multipleStatements: false,
    charset: 'utf8mb4',
    timezone: 'Z',
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    // No code is generated from the names of columns.
    disableEval: true,
    trace: false,
    connectTimeout: 0,
    enableKeepAlive: false,
  });
  connection.on('error', () => {});
  // The driver parses what it receives through this field, also after it has negotiated TLS.
  const parts = connection as unknown as { packetParser: { execute: (bytes: Buffer) => void } };
  const parser = parts.packetParser;
  parts.packetParser = { execute: guarded(socket, (bytes: Buffer) => parser.execute(bytes)) };
  return connection;
};

const isEncrypted = (connection: Connection): boolean => {
  const { stream } = connection as unknown as { stream: Socket };
  return (
    stream instanceof TLSSocket &&
    !stream.connecting &&
    stream.getProtocol() !== null &&
    stream.getCipher() !== undefined
  );
};

const signedIn = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.once('connect', () => resolve());
    connection.once('error', reject);
    connection.once('end', () => reject({ code: 'ECONNRESET' }));
  });

const command = (connection: Connection, sql: string): Promise<unknown[][]> =>
  new Promise((resolve, reject) => {
    connection.query(sql, (error, rows) => {
      if (error) reject(error);
      else resolve(rows as unknown as unknown[][]);
    });
  });

/** Opens a connection and signs in, without anything of a session. */
const connectAndSignIn = async (
  settings: ServerSettings,
  { egress, progress }: Pick<OpenParts, 'egress' | 'progress'>,
): Promise<{ connection: Connection; socket: Socket }> => {
  const { socket } = await openSocket(settings, { egress, progress, own: null });
  const encrypts = settings.tls.mode !== 'disable';
  let connection: Connection | undefined;
  const tlsPassed = (): void => {
    progress.passed(
      settings.tls.mode === 'verify_full' ? 'The certificate is trusted.' : 'The connection is encrypted.',
    );
    progress.begin('authenticate');
  };
  try {
    progress.begin(encrypts ? 'tls' : 'authenticate');
    connection = begin(socket, settings);
    await progress.within(signedIn(connection)).catch((error: unknown) => {
      const failure = signInFailure(error);
      if (encrypts && failure.step !== 'tls' && isEncrypted(connection!)) tlsPassed();
      throw failure;
    });
    if (encrypts) tlsPassed();
    return { connection, socket };
  } catch (error) {
    connection?.destroy();
    socket.destroy();
    throw error;
  }
};

interface Opened {
  settings: ServerSettings;
  parts: OpenParts;
  connection: Connection;
  socket: Socket;
  server: ServerInfo;
}

class MysqlSession implements Session {
  readonly server: ServerInfo;
  readonly #opened: Opened;
  #broken = false;
  /** Makes the query in progress fail. */
  #fail: (error: unknown) => void = () => {};

  constructor(opened: Opened) {
    this.#opened = opened;
    this.server = opened.server;
    const lost = (error: unknown) => {
      this.#broken = true;
      this.#fail(error);
    };
    opened.connection.on('error', lost);
    opened.socket.on('close', () => lost({ code: 'ECONNRESET' }));
  }

  get broken(): boolean {
    return this.#broken;
  }

  async read(query: ReadQuery): Promise<Rows> {
    const { socket } = this.#opened;
    try {
      return await watched({ socket, query }, this.#kill, (taken) => this.#read(query, taken));
    } catch (error) {
      if (error instanceof NotTaken) {
        // Rows that no one wants are on their way.
        this.close();
        throw error.cause;
      }
      const failure = queryFailure(error);
      if (failure instanceof ConnectionFailure) this.close();
      throw failure;
    }
  }

  async #read(query: ReadQuery, taken: () => void = () => {}): Promise<Rows> {
    const { connection, server } = this.#opened;
    const limit =
      server.product === 'MariaDB'
        ? `max_statement_time = ${query.timeoutMs / 1_000}`
        : `max_execution_time = ${Math.ceil(query.timeoutMs)}`;
    await command(connection, `set session ${limit}, sql_select_limit = ${query.limit + 1}`);
    const statement = { sql: query.sql, values: [...query.parameters], rowsAsArray: true };
    try {
      return await this.#execute(statement, query, taken);
    } finally {
      // MariaDB answers the second execution of some prepared statements with an error.
      if (!this.#broken) connection.unprepare(statement as unknown as string);
    }
  }

  #execute(
    statement: { sql: string; values: unknown[] },
    query: ReadQuery,
    taken: () => void,
  ): Promise<Rows> {
    return new Promise((resolve, reject) => {
      let collector: RowCollector | undefined;
      let floats: boolean[] = [];
      let notTaken = 0;
      const { connection } = this.#opened;
      const done = (full: RowCollector): void => {
        full.handOver().then(() => resolve(full.result()), reject);
      };
      const handOver = (full: RowCollector): void => {
        connection.pause();
        full.handOver().then(() => connection.resume(), reject);
      };
      // The driver tells a lost connection to those who wait with a callback only.
      this.#fail = reject;
      const execution = connection.execute(statement);
      execution.on('error', reject);
      execution.on('fields', (fields: FieldPacket[]) => {
        floats = fields.map(isFloat);
        collector = new RowCollector(
          fields.map((field) => ({ name: field.name, datatype: datatypeOfField(field) })),
          query,
        );
      });
      execution.on('result', (row: unknown[]) => {
        taken();
        if (!collector || !Array.isArray(row)) return;
        const values = row.map((value, i) =>
          floats[i] && typeof value === 'number' ? shortestFloat(value) : value,
        );
        let isTaken: boolean;
        try {
          isTaken = collector.add(values);
        } catch (error) {
          reject(error);
          this.close();
          return;
        }
        if (isTaken) {
          if (collector.hasBatch) handOver(collector);
          return;
        }
        // `sql_select_limit` lets one row more come. What is larger than an answer is not read to its end.
        if (++notTaken < 2) return;
        done(collector);
        this.close();
      });
      execution.on('end', () => {
        if (collector) done(collector);
        else reject(new QueryFailure('query_failed', 'The database returned no rows.'));
      });
    });
  }

  async isReadOnly(): Promise<boolean> {
    const variable = this.server.product === 'MariaDB' ? 'tx_read_only' : 'transaction_read_only';
    const { rows } = await this.read({ sql: `select @@session.${variable}`, ...small });
    return Number(rows[0]?.[0]) === 1;
  }

  async isWritable(): Promise<boolean> {
    const { rows } = await this.read({ sql: writableSql, ...small });
    return Number(rows[0]?.[0]) === 1;
  }

  /** Ends the statement over another connection, and closes this one. */
  readonly #kill = (): void => {
    const { settings, parts, connection } = this.#opened;
    const { threadId } = connection;
    this.close();
    const kill = async (): Promise<void> => {
      const progress = new Progress(killWithinMs);
      const { connection: other } = await connectAndSignIn(settings, { egress: parts.egress, progress });
      try {
        await progress.within(command(other, `kill query ${Number(threadId)}`));
      } finally {
        other.destroy();
      }
    };
    // The time limit of the statement ends it, too.
    kill().catch(() => {});
  };

  close(): void {
    this.#broken = true;
    this.#opened.connection.destroy();
  }
}

const small = { parameters: [], limit: 1, timeoutMs: 5_000 };

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const serverOf = (version: string): ServerInfo => ({
  product: /mariadb/i.test(version) ? 'MariaDB' : 'MySQL',
  // MariaDB's version used to begin so for old replicas: 5.5.5-10.11.19-MariaDB.
  version: version.replace(/^5\.5\.5-(?=\d)/, '').split('-')[0]!,
});

/** MySQL and MariaDB. */
export const mysql: Engine<ServerSettings> = {
  open: async (settings, parts) => {
    const { progress } = parts;
    const { connection, socket } = await connectAndSignIn(settings, parts);
    try {
      const prepare = async (): Promise<string> => {
        await command(connection, 'set session transaction read only');
        await command(connection, 'set session lock_wait_timeout = 5');
        for (const statement of sessionStatements.mysql) await command(connection, statement);
        const rows = await command(connection, 'select version()');
        return String(rows[0]?.[0]);
      };
      const version = await progress.within(prepare()).catch((error) => {
        throw signInFailure(error);
      });
      progress.passed('The server accepts the user.');
      return new MysqlSession({ settings, parts, connection, socket, server: serverOf(version) });
    } catch (error) {
      connection.destroy();
      throw error;
    }
  },
  listTables: listMysqlTables,
  defaultSchema: ({ database }) => database,
  printSelect: ({ schema, name }, columns, limit) =>
    `select ${columns.map(quoted).join(', ')} from ${quoted(schema)}.${quoted(name)} limit ${limit}`,
};
