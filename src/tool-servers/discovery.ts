import type { Database, Tx } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { isObject } from '../lib/objects.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Connection } from './client/connection.ts';
import { ConnectionFailure, shortened } from './client/failures.ts';
import { definitionFault, definitionHash, definitionOf, type ToolDefinition } from './definitions.ts';
import { otherToolNameOf, toolNameOf } from './names.ts';
import { findLockedToolServer, type ToolServerRow, updateDiscovery } from './store.ts';
import { insertTools, listToolHashes, type NewTool, updateDefinitions, updateMissing } from './tool-store.ts';
import { useExpectedTools } from './tool-uses.ts';

const maxTools = 2_000;
/** Limit of the tools of a server that are kept although it no longer lists them. */
const keptMissing = 1_000;

interface Listed {
  name: string;
  definition: ToolDefinition;
  definition_hash: string;
}

interface Discovered {
  tools: Listed[];
  protocolVersion: string | null;
  /** Tools that cannot be offered, with the reasons, as sentences. */
  warnings: string[];
}

/** Limit of the warnings; further ones are counted and not named. */
const mostWarnings = 20;

/** The name of a tool that cannot be offered, or its place in the list. */
const nameOf = (raw: unknown, place: number): string => {
  const { name } = isObject(raw) ? raw : { name: undefined };
  return typeof name === 'string' && name !== ''
    ? `"${shortened(name, 64)}"`
    : `number ${place + 1} of the list`;
};

/** Asks the server for its tools. Rejects with ConnectionFailure. */
const listed = async (connection: Connection, log: Logger, serverId: string): Promise<Discovered> => {
  const { protocolVersion } = await connection.open();
  const all = await connection.list();
  if (all.length > maxTools) {
    throw new ConnectionFailure(
      'list_tools',
      `The server lists more than ${maxTools.toLocaleString('en')} tools.`,
    );
  }
  const tools = new Map<string, Listed>();
  const warnings: string[] = [];
  const leaveOut = (raw: unknown, place: number, fault: string): void => {
    const name = connection.redactor.text(nameOf(raw, place));
    log.warn({ tool_server_id: serverId, tool: name, fault }, 'a tool of a tool server cannot be offered');
    warnings.push(`The tool ${name} is left out: ${fault}.`);
  };
  for (const [place, raw] of all.entries()) {
    const whole = definitionOf(raw);
    if ('fault' in whole) {
      leaveOut(raw, place, whole.fault);
      continue;
    }
    const definition = connection.redactor.value(whole) as ToolDefinition;
    const fault = definitionFault({ ...definition, name: whole.name });
    if (fault !== null) leaveOut(raw, place, fault);
    else if (tools.has(whole.name)) leaveOut(raw, place, 'another tool has its name');
    else {
      const { name } = whole;
      tools.set(name, { name, definition: { ...definition, name }, definition_hash: definitionHash(whole) });
    }
  }
  const more = warnings.length - mostWarnings;
  if (more > 0) warnings.splice(mostWarnings, more, `${more.toLocaleString('en')} more tools are left out.`);
  return { tools: [...tools.values()], protocolVersion, warnings };
};

/** Stores what a server lists now, in comparison with what it listed before. Its row is locked. */
const storeTools = async (tx: Tx, server: ToolServerRow, tools: readonly Listed[]): Promise<void> => {
  const known = new Map((await listToolHashes(tx, server.id)).map((tool) => [tool.name, tool]));
  const names = new Set(tools.map(({ name }) => name));
  const added = tools.filter(({ name }) => !known.has(name));
  const withName =
    (toName: typeof toolNameOf) =>
    (tool: Listed): NewTool => ({
      ...tool,
      tool_name: toName(server.prefix, tool.name),
    });
  const inserted = await insertTools(tx, server.id, added.map(withName(toolNameOf)), !server.discovered);
  const others = added.filter(({ name }) => !inserted.has(name));
  const renamed = await insertTools(tx, server.id, others.map(withName(otherToolNameOf)), !server.discovered);
  await useExpectedTools(tx, server.id, server.expected_tools, [...inserted, ...renamed]);
  const changed = tools.filter(({ name, definition_hash }) => {
    const before = known.get(name);
    return before !== undefined && (!before.present || before.definition_hash !== definition_hash);
  });
  await updateDefinitions(tx, server.id, changed);
  const missing = [...known.values()].filter(({ name, present }) => present && !names.has(name));
  await updateMissing(
    tx,
    server.id,
    missing.map(({ name }) => name),
    keptMissing,
  );
};

/**
 * Stores the result of a discovery that began at `beganAt`, by the time of the database. It is dropped if the settings
 * of the server have changed in the meantime, or if a later discovery is stored already. Returns the row as it is now;
 * undefined if the server was deleted.
 */
const store = (
  db: Database,
  server: ToolServerRow,
  beganAt: Date,
  result: Discovered | ConnectionFailure,
): Promise<ToolServerRow | undefined> =>
  db.tx(async (tx) => {
    const row = await findLockedToolServer(tx, server.id);
    if (!row || row.settings !== server.settings) return row;
    if (row.discovery_began_at !== null && row.discovery_began_at > beganAt) return row;
    if (result instanceof ConnectionFailure) {
      return updateDiscovery(tx, row.id, { beganAt, error: result.message });
    }
    await storeTools(tx, row, result.tools);
    const { protocolVersion, warnings } = result;
    return updateDiscovery(tx, row.id, { beganAt, protocolVersion, warnings });
  });

export interface DiscoveryResult {
  /** The row as it is now; undefined if the server was deleted. */
  row: ToolServerRow | undefined;
  /** Reason why it failed; null if it did not. */
  failure: ConnectionFailure | null;
  protocolVersion: string | null;
  tools: number;
  warnings: string[];
}

/**
 * Discovers the tools of a server over `connection`, which stays open, and stores the result. No transaction is open
 * while the server is asked. `withinMs` is for the whole conversation with the server.
 */
export const discover = async (
  { db, log }: { db: Database; log: Logger },
  server: ToolServerRow,
  connection: Connection,
  beganAt: Date,
  withinMs: number,
): Promise<DiscoveryResult> => {
  let result: Discovered | ConnectionFailure;
  try {
    result = await withTimeout(
      listed(connection, log, server.id),
      withinMs,
      () => new ConnectionFailure('negotiate', 'The server did not respond in time.'),
    );
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error;
    result = error;
  }
  const row = await store(db, server, beganAt, result);
  return result instanceof ConnectionFailure
    ? { row, failure: result, protocolVersion: null, tools: 0, warnings: [] }
    : {
        row,
        failure: null,
        protocolVersion: result.protocolVersion,
        tools: result.tools.length,
        warnings: result.warnings,
      };
};
