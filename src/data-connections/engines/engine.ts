import type { Egress } from '../../lib/egress.ts';
import type { Progress } from './progress.ts';
import type { Datatype, OnRows, Rows } from './values.ts';

/** One read-only statement, as a printer of ours wrote it. */
export interface ReadQuery {
  /** One statement, in the engine's own SQL and with its placeholders: `$1`, or `?` on MySQL and SQLite. */
  sql: string;
  parameters: readonly (string | number | boolean | null)[];
  /** At most this many rows; one more that exists makes the result `truncated`. */
  limit: number;
  timeoutMs: number;
  /** The caller does not need the result any more: the statement is cancelled on the server. */
  signal?: AbortSignal;
  /** The datatypes of the columns where the caller knows them; the others are those that the engine reports. */
  datatypes?: readonly (Datatype | null)[];
  /** Longer texts are cut. Default 10,000 characters. */
  maxCharacters?: number;
  /**
   * Takes the rows in batches, in their order, instead of the result, which then has none and no limit of bytes. The next
   * batch waits for it.
   */
  onRows?: OnRows;
  /** Permissions of SQLite's authorizer. Other engines have privileges. */
  permitted?: { tables: readonly string[]; functions: readonly string[] };
}

export interface ServerInfo {
  product: string;
  version: string;
}

/** An open connection. It is used by one caller at a time. */
export interface Session {
  readonly server: ServerInfo;
  /** The session was lost, and cannot be used again. */
  readonly broken: boolean;
  /** Rejects with QueryFailure, or with ConnectionFailure if the connection is lost. */
  read(query: ReadQuery): Promise<Rows>;
  /** Statements run in a transaction that the engine keeps read-only. */
  isReadOnly(): Promise<boolean>;
  /** The user may change data, by privileges. */
  isWritable(): Promise<boolean>;
  close(): void;
}

interface TableColumn {
  name: string;
  /** As the engine writes it. */
  type: string;
  datatype: Datatype;
  nullable: boolean;
  comment: string | null;
}

export const tableKinds = ['table', 'view', 'materialized_view', 'foreign_table'] as const;

export interface TableInfo {
  schema: string;
  name: string;
  kind: (typeof tableKinds)[number];
  comment: string | null;
  row_estimate: number | null;
  columns: TableColumn[];
  primary_key: string[];
  unique_keys: string[][];
  foreign_keys: { columns: string[]; to_schema: string; to_table: string; to_columns: string[] }[];
}

export interface TableFilter {
  schema?: string | undefined;
  /** Only tables with one of these names, exactly. */
  names?: readonly string[] | undefined;
  /** A part of the name, without case. */
  search?: string | undefined;
  /** Only tables after this one, in the order of schema and name. */
  after?: { schema: string; name: string } | undefined;
  limit: number;
}

export interface TableList {
  /** At most `limit`, by schema and name. Only those that the user may read, and none of the system. */
  tables: TableInfo[];
  more: boolean;
}

export interface OpenParts {
  egress: Egress;
  own: OwnDatabase;
  progress: Progress;
}

/** Recognizes the platform's own database. */
export interface OwnDatabase {
  /** Compares the address and the name of the database. */
  isAt(addresses: readonly string[], port: number, database: string): Promise<boolean>;
  /** Compares the identity of the server (`pg_control_system`), whatever its address. */
  isServer(systemIdentifier: string, database: string): Promise<boolean>;
  /** The platform has a PostgreSQL. */
  readonly exists: boolean;
}

/** An engine: how to open sessions, and what is different in its SQL. */
export interface Engine<S> {
  /** Rejects with ConnectionFailure, and leaves no connection open then. */
  open(settings: S, parts: OpenParts): Promise<Session>;
  listTables(session: Session, filter: TableFilter): Promise<TableList>;
  /** Returns the schema of a table without one. */
  defaultSchema(settings: S): string;
  /** A SELECT of these columns. `limit` is a whole number. */
  printSelect(table: { schema: string; name: string }, columns: readonly string[], limit: number): string;
}
