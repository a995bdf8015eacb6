import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { withoutNull, withoutUndefined } from '../lib/objects.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import type { ChangesOf, ValuesOf } from '../resource/index.ts';
import { defaultPrefix, freePrefix } from './names.ts';
import { readServerPolicies, type ServerPolicies } from './policies.ts';
import type {
  OAuthSettings,
  OpenedToolServer,
  ToolServerSettings,
  ToolServerSettingsStore,
} from './settings.ts';
import {
  deletePoliciesOf,
  deleteToolServerRow,
  findLockedToolServer,
  insertToolServer,
  listPrefixes,
  lockToolServerForDelete,
  resetToolServerState,
  type ToolServerRow,
  toolServers,
} from './store.ts';
import { distrustTools } from './tool-store.ts';

export type NewToolServer = ValuesOf<typeof toolServers> & ToolServerSettings;

/** Changes of a tool server: an absent field stays as it is, null clears it. */
export type ToolServerChanges = ChangesOf<typeof toolServers> & {
  transport?: 'http' | 'stdio' | undefined;
  url?: string | null | undefined;
  headers?: Record<string, string> | null | undefined;
  oauth?: (Partial<Omit<OAuthSettings, 'scope'>> & { scope?: string | null | undefined }) | null | undefined;
  command?: string | null | undefined;
  args?: string[] | null | undefined;
  env?: Record<string, string> | null | undefined;
  cwd?: string | null | undefined;
};

/** The settings of the transport that the changes have. Those of the other are ignored. */
const settingsIn = (
  { transport }: ToolServerSettings,
  { url, headers, oauth, command, args, env, cwd }: ToolServerChanges,
) => withoutUndefined(transport === 'http' ? { url, headers, oauth } : { command, args, env, cwd });

const stdioFault: Fault = {
  path: 'transport',
  message: 'stdio is not permitted here (ALLOW_STDIO_TOOL_SERVERS)',
};

const authorizationOf = (settings: ToolServerSettings): string | undefined =>
  settings.transport === 'http' && settings.oauth !== undefined
    ? Object.keys(settings.headers ?? {}).find((name) => name.toLowerCase() === 'authorization')
    : undefined;

/** Throws 422 for settings that contradict each other. */
const checkSettings = (settings: ToolServerSettings): void => {
  const name = authorizationOf(settings);
  if (name !== undefined) {
    throw unprocessable([
      { path: `headers.${name}`, message: 'cannot be set next to oauth, which sets it itself' },
    ]);
  }
};

const prefixFault = (): ApiError =>
  unprocessable([{ path: 'prefix', message: 'belongs to another tool server' }]);

/** Creates a tool server. It is not connected to yet. Throws 422 for a prefix that is taken and for stdio without leave. */
export const createToolServer = async (
  tx: Tx,
  actor: Actor,
  store: ToolServerSettingsStore,
  allowStdio: boolean,
  body: NewToolServer,
): Promise<ToolServerRow> => {
  const settings = toolServers.besides(body) as ToolServerSettings;
  if (settings.transport === 'stdio' && !allowStdio) throw unprocessable([stdioFault]);
  checkSettings(settings);
  const id = newId();
  const { transport } = settings;
  const { prefix: given } = body;
  const fields = toolServers.write(body);
  const sealed = { settings: store.seal(id, settings) };
  const start = defaultPrefix(body.name);
  for (;;) {
    const prefix = given ?? freePrefix(start, await listPrefixes(tx, start.slice(0, 8)));
    const row = await insertToolServer(tx, { id, ...fields, transport, prefix, ...sealed });
    if (row) {
      await audit(tx, actor, 'tool_server.create', id, { ...fields, prefix, ...store.masked(settings) });
      return row;
    }
    // The prefix was free a moment ago: another server has got it in the meantime.
    if (given !== undefined) throw prefixFault();
  }
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
const lockToolServer = async (tx: Tx, id: string): Promise<ToolServerRow> => {
  const row = await findLockedToolServer(tx, id);
  if (!row) throw notFound('tool server');
  return row;
};

/** Returns `before` with the changes; null clears. */
const merged = (before: ToolServerSettings, changes: ToolServerChanges): ToolServerSettings => {
  const given: ToolServerChanges = settingsIn(before, changes);
  const oauth = given.oauth && {
    oauth: withoutNull({ ...('oauth' in before && before.oauth), ...withoutUndefined(given.oauth) }),
  };
  const args = given.args === null && { args: [] };
  return withoutNull({ ...before, ...given, ...args, ...oauth }) as ToolServerSettings;
};

/** The faults of secrets that a change would send to another place than the one they were given for. */
const secretFaults = (before: ToolServerSettings, changes: ToolServerChanges): Fault[] => {
  const faults: Fault[] = [];
  const again = (path: string, field: string) =>
    faults.push({ path, message: `must be given again, because ${field} changes` });
  const has = (map: object | undefined) => map !== undefined && Object.keys(map).length > 0;
  if (before.transport === 'stdio') {
    const moved = typeof changes.command === 'string' && changes.command !== before.command;
    if (moved && has(before.env) && changes.env === undefined) again('env', 'command');
    return faults;
  }
  const { oauth } = changes;
  const moved = typeof changes.url === 'string' && changes.url !== before.url;
  if (moved && has(before.headers) && changes.headers === undefined) again('headers', 'url');
  if (before.oauth === undefined || oauth === null || oauth?.client_secret !== undefined) return faults;
  if (moved) again('oauth.client_secret', 'url');
  else if (oauth?.issuer !== undefined && oauth.issuer !== before.oauth.issuer) {
    again('oauth.client_secret', 'oauth.issuer');
  }
  return faults;
};

/** Throws if the locked server cannot have these changes: 400 for what is missing, 422 for what is wrong. */
const checkChanges = ({ row, settings }: OpenedToolServer, changes: ToolServerChanges): void => {
  const faults: Fault[] = [];
  const fixed = (path: 'transport' | 'prefix') => {
    if (changes[path] !== undefined && changes[path] !== row[path]) {
      faults.push({ path, message: `cannot be changed; it is ${row[path]}` });
    }
  };
  fixed('transport');
  fixed('prefix');
  const required = settings.transport === 'http' ? 'url' : 'command';
  if (changes[required] === null) faults.push({ path: required, message: 'cannot be null' });
  faults.push(...secretFaults(settings, changes));
  if (faults.length > 0) throw unprocessable(faults);
  const after = merged(settings, changes);
  if (after.transport === 'http' && after.oauth !== undefined) {
    const { oauth } = after;
    const missing = (['client_id', 'client_secret', 'issuer'] as const)
      .filter((field) => oauth[field] === undefined)
      .map((field) => ({ path: `oauth.${field}`, message: 'is required' }));
    if (missing.length > 0) {
      throw new ApiError('bad_request', missing.map((f) => `${f.path}: ${f.message}`).join('; '), {
        details: missing,
      });
    }
  }
  checkSettings(after);
};

/** Returns whether the changes make another program or another server of it. */
const isElsewhere = (before: ToolServerSettings, after: ToolServerSettings): boolean => {
  const addressOf = (settings: ToolServerSettings) =>
    settings.transport === 'http' ? settings.url : [settings.command, ...settings.args, settings.cwd];
  return JSON.stringify(addressOf(before)) !== JSON.stringify(addressOf(after));
};

/** Returns the server, locked. Throws 422 for changes that it cannot have. */
export const lockToUpdate = async (
  tx: Tx,
  store: ToolServerSettingsStore,
  id: string,
  changes: ToolServerChanges,
): Promise<ToolServerRow> => {
  const row = await lockToolServer(tx, id);
  checkChanges(store.open(row), changes);
  return row;
};

/** Changes the fields that `changes` has of the server that `lockToUpdate` returned. */
export const updateToolServer = async (
  tx: Tx,
  actor: Actor,
  store: ToolServerSettingsStore,
  before: ToolServerRow,
  changes: ToolServerChanges,
  guard: ApprovalGuard,
): Promise<ToolServerRow> => {
  const { settings } = store.open(before);
  if (changes.default_policy !== undefined) {
    const policies = (await readServerPolicies(tx, [before.id])).get(before.id)!;
    await guard.policies(tx, actor, policies, { ...policies, default_policy: changes.default_policy });
  }
  const after = merged(settings, changes);
  const isSame = JSON.stringify(after) === JSON.stringify(settings);
  let row = await toolServers.update(
    tx,
    before.id,
    changes,
    isSame ? {} : { settings: store.seal(before.id, after) },
  );
  if (isElsewhere(settings, after)) {
    await distrustTools(tx, before.id);
    row = await resetToolServerState(tx, before.id);
  }
  await audit(tx, actor, 'tool_server.update', row.id, {
    ...toolServers.given(changes),
    ...store.masked(settingsIn(settings, changes) as Partial<ToolServerSettings>),
  });
  return row;
};

/**
 * Stands above changes of how agents may use tools: throws 403 unless the actor has the approval role of each agent that
 * could do more with less control after them.
 */
export interface ApprovalGuard {
  policies(tx: Tx, actor: Actor, before: ServerPolicies, after: ServerPolicies): Promise<void>;
  /** Before the tool is accepted as the server lists it now; `isNew`: no one has accepted it yet. */
  acceptance(
    tx: Tx,
    actor: Actor,
    server: ServerPolicies,
    tool: { name: string; isNew: boolean },
  ): Promise<void>;
}

/** Throws 412 with `agent_ids` while agents name the server. */
export type CheckUnused = (tx: Tx, id: string) => Promise<void>;

/** Locks the server so that no agent begins to name it. Throws 404 if there is none. */
export const lockToDelete = async (tx: Tx, id: string): Promise<ToolServerRow> => {
  const row = await lockToolServerForDelete(tx, id);
  if (!row) throw notFound('tool server');
  return row;
};

/** Deletes the locked server, and the policies for its tools that agents have left. Throws 412 while agents use it. */
export const deleteToolServer = async (
  tx: Tx,
  actor: Actor,
  checkUnused: CheckUnused,
  row: ToolServerRow,
): Promise<void> => {
  await checkUnused(tx, row.id);
  const changedAgents = await deletePoliciesOf(tx, row.id);
  await deleteToolServerRow(tx, row.id);
  await audit(tx, actor, 'tool_server.delete', row.id, {
    name: row.name,
    prefix: row.prefix,
    ...(changedAgents.length > 0 && { policies_removed_from: changedAgents }),
  });
};

/** Throws 403 unless the caller may decide which programs run on this machine. */
export const checkMayRunPrograms = ({ role }: Principal, transport: unknown): void => {
  if (transport === 'stdio' && role !== 'admin') {
    throw new ApiError(
      'forbidden',
      `A tool server with the transport stdio requires the role admin; the API key has the role ${role}.`,
    );
  }
};
