import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { sessionStatements } from '@agent-platform/sql';
import pg from 'pg';
import Cursor from 'pg-cursor';
import type { Address } from '../../lib/egress.ts';
import { connectTo } from '../../lib/foreign-socket.ts';
import type { Engine, OpenParts, ReadQuery, ServerInfo, Session } from './engine.ts';
import { ConnectionFailure, NotTaken, ownDatabaseFailure } from './failures.ts';
import { listPostgresTables } from './postgres-catalog.ts';
import { queryFailure, signInFailure } from './postgres-failures.ts';
import { datatypeOfOid } from './postgres-types.ts';
import type { ServerSettings } from './settings.ts';
import { coalesceWrites, guardListeners, openSocket, tlsFailure, upgrade } from './socket.ts';
import { RowCollector, type Rows } from './values.ts';
import { watched } from './watch.ts';

/** Values as the server's text, which `values.ts` reads. Without it the types that the platform sets for itself apply. */
const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

/** Rows that are fetched at once: at most so many, and about as many as have so many bytes. */
const chunkRows = 500;
const chunkBytes = 4 * 1024 * 1024;
const firstChunkRows = 20;

/** SSLRequest (PostgreSQL documentation, 54.7). */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Asks a server for TLS, and negotiates it. */
const startTls = async (socket: Socket, { host, tls }: ServerSettings): Promise<TLSSocket> => {
  const answer = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('error', (error) => reject(tlsFailure(error)));
    socket.once('close', () => reject(tlsFailure({ code: 'ECONNRESET' })));
    socket.write(sslRequest);
  });
  // More than one byte would be text that someone in between sent before the encryption began (CVE-2021-23222).
  if (answer.toString('latin1') !== 'S') {
    throw new ConnectionFailure('tls', 'The server does not offer TLS.', 'tls');
  }
  // The handshake reads the connection itself.
  socket.pause();
  return upgrade(socket, host, tls);
};

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Signs in over a connection that is open and, if so configured, encrypted. */
const signIn = async (
  stream: Socket,
  { host, port, database, username, password }: ServerSettings,
): Promise<pg.Client> => {
  // The driver opens connections by itself; this one is open already.
  const connected = Object.assign(coalesceWrites(guardListeners(stream)), {
    connect: () => {
      setImmediate(() => stream.emit('connect'));
      return stream;
    },
  });
  const client = new pg.Client({
    host,
    port,
    database,
    user: username,
    // A function, because without a password the driver would look for one in the environment and in ~/.pgpass.
    password: () => password ?? '',
    ssl: false,
    stream: () => connected,
    types: asText,
    application_name: 'agent-platform',
  });
  client.on('error', () => {});
  await client.connect();
  return client;
};

interface Opened {
  settings: ServerSettings;
  client: pg.Client;
  socket: Socket;
  address: Address;
  server: ServerInfo;
}

class PostgresSession implements Session {
  readonly server: ServerInfo;
  readonly #opened: Opened;
  #broken = false;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.server = opened.server;
    const lost = () => {
      this.#broken = true;
    };
    opened.client.on('error', lost);
    opened.client.on('end', lost);
  }

  get broken(): boolean {
    return this.#broken;
  }

  async read(query: ReadQuery): Promise<Rows> {
    const { socket } = this.#opened;
    try {
      return await watched({ socket, query }, this.#cancel, (taken) => this.#read(query, taken));
    } catch (error) {
      if (error instanceof NotTaken) throw error.cause;
      const failure = queryFailure(error);
      if (failure instanceof ConnectionFailure) this.close();
      throw failure;
    }
  }

  async #read(
    { sql, parameters, timeoutMs, ...given }: ReadQuery,
    taken: () => void = () => {},
  ): Promise<Rows> {
    const { client } = this.#opened;
    await client.query(beginReadOnly(timeoutMs));
    try {
      const cursor = client.query(
        new Cursor<unknown[]>(sql, [...parameters], { rowMode: 'array', types: asText }),
      );
      const collector = await this.#collect(cursor, given, taken);
      await cursor.close();
      return collector.result();
    } finally {
      if (!this.#broken) await client.query('rollback');
    }
  }

  async #collect(
    cursor: Cursor<unknown[]>,
    given: Pick<ReadQuery, 'limit' | 'datatypes' | 'maxCharacters' | 'onRows'>,
    taken: () => void,
  ): Promise<RowCollector> {
    const { socket } = this.#opened;
    let collector: RowCollector | undefined;
    let left = given.limit + 1;
    let chunk = firstChunkRows;
    for (;;) {
      const asked = Math.min(chunk, left);
      const before = socket.bytesRead;
      const { rows, fields } = await readChunk(cursor, asked);
      const rowBytes = (socket.bytesRead - before) / Math.max(rows.length, 1);
      chunk = Math.max(1, Math.min(chunkRows, Math.floor(chunkBytes / rowBytes)));
      collector ??= new RowCollector(
        fields.map(({ name, dataTypeID }) => ({ name, datatype: datatypeOfOid(dataTypeID) })),
        given,
      );
      const enough = rows.some(
        (row) => !collector!.add(row.map((value, i) => withoutBytes(value, fields[i]!))),
      );
      await collector.handOver().catch((error: unknown) => {
        // Rows that no one wants are on their way.
        this.close();
        throw error;
      });
      taken();
      left -= rows.length;
      if (enough || rows.length < asked || left === 0) return collector;
    }
  }

  async isReadOnly(): Promise<boolean> {
    const { rows } = await this.read({
      ...small,
      sql: "select current_setting('transaction_read_only')",
    });
    return rows[0]?.[0] === 'on';
  }

  async isWritable(): Promise<boolean> {
    const { rows } = await this.read({ ...small, sql: writableSql });
    return rows[0]?.[0] === true;
  }

  /** Cancels the statement over a connection of its own (PostgreSQL documentation, 54.2.8), and closes this one. */
  readonly #cancel = (): void => {
    const { settings, address, client } = this.#opened;
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const request = Buffer.alloc(16);
    for (const [i, value] of [16, 80_877_102, processID, secretKey].entries()) {
      request.writeInt32BE(value | 0, i * 4);
    }
    this.close();
    const send = async (): Promise<void> => {
      const socket = await connectTo(address, settings.port, cancelWithinMs);
      const timer = setTimeout(() => socket.destroy(), cancelWithinMs);
      socket.on('close', () => clearTimeout(timer));
      try {
        const stream = settings.tls.mode === 'disable' ? socket : await startTls(socket, settings);
        stream.end(request);
        stream.resume();
      } catch {
        socket.destroy();
      }
    };
    // The time limit of the statement ends it, too.
    send().catch(() => {});
  };

  close(): void {
    this.#broken = true;
    this.#opened.socket.destroy();
  }
}

const cancelWithinMs = 5_000;
const small = { parameters: [], limit: 1, timeoutMs: 5_000 };

/**
 * Settings of one transaction: a role or database may have others. One round trip; none of it comes from a caller. An
 * idle transaction ends, so that a frozen replica holds nothing.
 */
const beginReadOnly = (timeoutMs: number): string =>
  [
    'begin read only',
    `set local statement_timeout = ${Math.ceil(timeoutMs)}`,
    'set local lock_timeout = 5000',
    `set local idle_in_transaction_session_timeout = ${Math.ceil(timeoutMs) + 10_000}`,
    ...sessionStatements.postgres,
    "set local intervalstyle = 'postgres'",
    'set local extra_float_digits = 1',
  ].join('; ');

/** A superuser, or a privilege to change a table that is no system table. */
const writableSql = `select (select rolsuper from pg_roles where rolname = current_user)
  or exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
      and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
      and has_schema_privilege(n.oid, 'USAGE')
      and (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        or has_any_column_privilege(c.oid, 'INSERT, UPDATE')))`;

const byteaOid = 17;

/** Bytes come as text in hex; what they are is left out. */
const withoutBytes = (value: unknown, { dataTypeID }: pg.FieldDef): unknown =>
  value !== null && dataTypeID === byteaOid ? Buffer.alloc(0) : value;

const readChunk = (
  cursor: Cursor<unknown[]>,
  rows: number,
): Promise<{ rows: unknown[][]; fields: pg.FieldDef[] }> =>
  new Promise((resolve, reject) => {
    cursor.read(rows, (error, found, result) => {
      if (error) reject(error);
      else resolve({ rows: found, fields: result?.fields ?? [] });
    });
  });

/** Throws if the server is the one that holds the platform's own database, under whatever address. */
const checkNotOwn = async (client: pg.Client, { own }: OpenParts): Promise<void> => {
  if (!own.exists) return;
  // A server that does not tell its identity is no PostgreSQL that the platform could run on.
  const identity = await client
    .query<{ id: string; name: string }>(
      'select system_identifier::text as id, current_database()::text as name from pg_catalog.pg_control_system()',
    )
    .then(
      ({ rows }) => rows[0],
      (error: { code?: string }) => {
        if (error.code === undefined) throw error;
        return undefined;
      },
    );
  if (identity && (await own.isServer(identity.id, identity.name))) throw ownDatabaseFailure();
};

/** PostgreSQL. */
export const postgres: Engine<ServerSettings> = {
  open: async (settings, parts) => {
    const { progress } = parts;
    const { socket, address } = await openSocket(settings, parts);
    try {
      let stream = socket;
      if (settings.tls.mode !== 'disable') {
        progress.begin('tls');
        stream = await progress.within(startTls(socket, settings));
        progress.passed(
          settings.tls.mode === 'verify_full'
            ? 'The certificate is trusted.'
            : 'The connection is encrypted.',
        );
      }
      progress.begin('authenticate');
      const client = await progress.within(signIn(stream, settings)).catch((error) => {
        throw signInFailure(error);
      });
      const { rows } = await progress
        .within(
          checkNotOwn(client, parts).then(() =>
            client.query<{ version: string }>("select current_setting('server_version') as version"),
          ),
        )
        .catch((error) => {
          throw signInFailure(error);
        });
      progress.passed('The server accepts the user.');
      const server = { product: 'PostgreSQL', version: rows[0]!.version };
      return new PostgresSession({ settings, client, socket, address, server });
    } catch (error) {
      socket.destroy();
      throw error;
    }
  },
  listTables: listPostgresTables,
  defaultSchema: () => 'public',
  printSelect: ({ schema, name }, columns, limit) =>
    `select ${columns.map(quoted).join(', ')} from ${quoted(schema)}.${quoted(name)} limit ${limit}`,
};
