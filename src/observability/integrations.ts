import { audit } from '../audit/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import { fingerprint, type Vault } from '../lib/crypto.ts';
import { type Egress, EgressError } from '../lib/egress.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import type { ProviderSettings, Settings } from './settings.ts';
import {
  boundTo,
  deleteIntegration,
  findIntegration,
  type IntegrationFilter,
  type IntegrationRow,
  insertIntegration,
  insertScope,
  listIntegrations,
  lockIntegration,
  type ReadRow,
  recordReads,
  updateIntegration,
} from './store.ts';
import { literalHost, type Placeholders, resolveUrl } from './urls.ts';

/** Who asks, for the audit log. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

export interface CreateBody {
  settings: Settings;
  version: string;
  description: string | undefined;
  is_system: boolean;
  debug: boolean;
}

/** PUT: what is absent stays. PATCH has `is_enabled` and `debug` alone. */
export interface UpdateBody {
  settings?: Settings;
  version?: string | null;
  description?: string | null;
  debug?: boolean;
  is_enabled?: boolean;
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;

/** What is no credential. A url may hold one in its path or query. */
const plainSettings = new Set([
  'provider',
  'is_enabled',
  'project_name',
  'dashboard_instance_id',
  'username',
  'stack_name',
  'trace_ui_type',
]);

/** The settings as the audit log shows them: what may be secret as a fingerprint, headers one by one. */
const audited = (settings: Settings): Record<string, unknown> => {
  const masked = (value: unknown): unknown =>
    value !== null && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]))
      : fingerprint(String(value));
  return Object.fromEntries(
    Object.entries(withoutUndefined(settings)).map(([key, value]) => [
      key,
      plainSettings.has(key) ? value : masked(value),
    ]),
  );
};

/** The rules of integrations: what is stored, shown and audited. */
export const createIntegrations = (parts: {
  db: Database;
  vault: Vault;
  placeholders: Placeholders;
  egress: Egress;
}) => {
  const { db, vault, placeholders, egress } = parts;

  const seal = (id: string, { is_enabled: _, ...settings }: Settings): string =>
    vault.seal(JSON.stringify(withoutUndefined(settings)), boundTo(id));
  const open = (row: Pick<IntegrationRow, 'id' | 'settings'>): ProviderSettings =>
    JSON.parse(vault.open(row.settings, boundTo(row.id))) as ProviderSettings;

  /** PublicObservabilityIntegration (description, 2.1). */
  const present = (row: IntegrationRow) => {
    const settings = open(row);
    const resolved = resolveUrl(settings.url, placeholders);
    return {
      id: row.id,
      kind: 'observability' as const,
      settings: { ...settings, is_enabled: row.is_enabled },
      resolved_url: 'url' in resolved ? resolved.url : null,
      description: row.description,
      version: row.version,
      is_system: row.is_system,
      debug: row.debug,
      created_at: row.created_at,
      updated_at: row.updated_at,
    };
  };

  const noteRead = async (
    tx: Tx,
    { principal, requestId }: Caller,
    ids: readonly string[],
  ): Promise<void> => {
    for (const id of await recordReads(tx, principal.id, ids)) {
      await audit(tx, principal, {
        action: 'integration.credentials_read',
        targetType: 'integration',
        targetId: id,
        requestId,
      });
    }
  };

  /** Rows for a caller who is about to see their credentials: nothing is written but at the first read in an hour. */
  const readFor = async (
    caller: Caller,
    read: (executor: Executor) => Promise<ReadRow[]>,
  ): Promise<ReadRow[]> => {
    const rows = await db.run(read);
    const unnoted = rows.filter((row) => !row.read_noted).map((row) => row.id);
    if (unnoted.length > 0) await db.tx((tx) => noteRead(tx, caller, unnoted));
    return rows;
  };

  const locked = async (tx: Tx, id: string): Promise<IntegrationRow> => {
    const row = await lockIntegration(tx, id);
    if (!row) throw notFound('integration');
    return row;
  };

  return {
    open,
    present,
    locked,

    list: (caller: Caller, filter: IntegrationFilter): Promise<ReadRow[]> =>
      readFor(caller, (executor) => listIntegrations(executor, filter, caller.principal.id)),

    get: async (caller: Caller, id: string): Promise<ReadRow> => {
      const [row] = await readFor(caller, async (executor) => {
        const found = isId(id) ? await findIntegration(executor, id, caller.principal.id) : undefined;
        return found ? [found] : [];
      });
      if (!row) throw notFound('integration');
      return row;
    },

    /** The row of an id as it came in a path, for what shows no credentials. */
    find: async (id: string): Promise<IntegrationRow> => {
      const row = isId(id) ? await db.run((executor) => findIntegration(executor, id, '')) : undefined;
      if (!row) throw notFound('integration');
      return row;
    },

    /** 422 for settings whose url is an address that may not be connected to; names are judged at each connection. */
    checkAddress: async (settings: Settings): Promise<void> => {
      const resolved = resolveUrl(settings.url, placeholders);
      const address = 'url' in resolved ? literalHost(resolved.url) : null;
      if (address === null) return;
      await egress.resolve(address).catch((error: unknown) => {
        if (!(error instanceof EgressError)) throw error;
        throw unprocessable([
          {
            path: 'settings.url',
            message: 'is an address that is not permitted (EGRESS_DENY, EGRESS_ALLOW)',
          },
        ]);
      });
    },

    /** A new integration is global. */
    create: async (tx: Tx, { principal, requestId }: Caller, body: CreateBody): Promise<IntegrationRow> => {
      const id = newId();
      const { settings, version, description, is_system, debug } = body;
      const is_enabled = settings.is_enabled ?? true;
      const row = await insertIntegration(tx, {
        id,
        provider: settings.provider,
        is_enabled,
        settings: seal(id, settings),
        version,
        description: description ?? null,
        is_system,
        debug,
      });
      await insertScope(tx, id, null);
      await audit(tx, principal, {
        action: 'integration.create',
        targetType: 'integration',
        targetId: id,
        details: {
          settings: audited({ ...settings, is_enabled }),
          version,
          description: row.description,
          is_system,
          debug,
        },
        requestId,
      });
      return row;
    },

    /** `before` is locked. */
    update: async (
      tx: Tx,
      caller: Caller,
      before: IntegrationRow,
      body: UpdateBody,
    ): Promise<IntegrationRow> => {
      const { id } = before;
      const { settings, ...rest } = body;
      const row = await updateIntegration(tx, id, {
        ...withoutUndefined(rest),
        ...(settings ? { provider: settings.provider, settings: seal(id, settings) } : {}),
        ...(settings?.is_enabled === undefined ? {} : { is_enabled: settings.is_enabled }),
      });
      await audit(tx, caller.principal, {
        action: 'integration.update',
        targetType: 'integration',
        targetId: id,
        details: withoutUndefined({ ...rest, settings: settings && audited(settings) }),
        requestId: caller.requestId,
      });
      // Who did not send the settings is shown them by the answer.
      if (!settings) await noteRead(tx, caller, [id]);
      return row;
    },

    /** `row` is locked. */
    remove: async (tx: Tx, { principal, requestId }: Caller, row: IntegrationRow): Promise<void> => {
      await deleteIntegration(tx, row.id);
      await audit(tx, principal, {
        action: 'integration.delete',
        targetType: 'integration',
        targetId: row.id,
        details: { provider: row.provider, version: row.version, description: row.description },
        requestId,
      });
    },
  };
};

export type Integrations = ReturnType<typeof createIntegrations>;
