import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import type { Services } from '../feature.ts';
import { finder } from '../http/index.ts';
import type { SealedColumn } from '../lib/crypto.ts';
import { EgressError } from '../lib/egress.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import { withoutUndefined } from '../lib/objects.ts';
import type { Actor } from '../lib/principal.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { ProviderSettings, Settings } from './settings.ts';
import {
  deleteIntegration,
  findIntegration,
  findLockedIntegration,
  type IntegrationFilter,
  type IntegrationRow,
  insertIntegration,
  insertReads,
  insertScope,
  listIntegrations,
  type ReadRow,
  updateIntegration,
} from './store.ts';
import { literalHost, resolveUrl } from './urls.ts';

export interface CreateBody {
  settings: Settings;
  version: string;
  description: string | undefined;
  is_system: boolean;
  debug: boolean;
}

/** PUT: an absent field stays as it is. PATCH has only `is_enabled` and `debug`. */
export interface UpdateBody {
  settings?: Settings;
  version?: string | null;
  description?: string | null;
  debug?: boolean;
  is_enabled?: boolean;
}

/** The fields that are not credentials. `url` is not among them: its path or query may contain one. */
const plainSettings = [
  'provider',
  'is_enabled',
  'project_name',
  'project_header',
  'dashboard_instance_id',
  'username',
  'stack_name',
  'data_source',
  'resource_attributes',
  'trace_ui_type',
];

/** The rules of integrations: what is stored, returned and audited. */
export const createIntegrations = ({ config, db, vault, egress }: Services) => {
  const placeholders = config.urlPlaceholders;

  const sealed = new SealedSettings<Settings>(vault, 'observability_integrations', plainSettings);
  const seal = (id: string, { is_enabled: _, ...settings }: Settings): string => sealed.seal(id, settings);
  const open = (row: Pick<IntegrationRow, 'id' | 'settings'>): ProviderSettings => sealed.open(row);

  /** PublicObservabilityIntegration. */
  const toResponse = (row: IntegrationRow) => {
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

  const auditReads = async (tx: Tx, actor: Actor, ids: readonly string[]): Promise<void> => {
    for (const id of await insertReads(tx, actor.principal.id, ids)) {
      await audit(tx, actor, 'integration.credentials_read', id);
    }
  };

  /** Reads rows for an actor who sees their credentials, and audits that. Only the first read in an hour is audited. */
  const readFor = async (
    actor: Actor,
    read: (executor: Executor) => Promise<ReadRow[]>,
  ): Promise<ReadRow[]> => {
    const rows = await db.run(read);
    const unaudited = rows.filter((row) => !row.read_audited).map((row) => row.id);
    if (unaudited.length > 0) await db.tx((tx) => auditReads(tx, actor, unaudited));
    return rows;
  };

  const lock = async (tx: Tx, id: string): Promise<IntegrationRow> => {
    const row = await findLockedIntegration(tx, id);
    if (!row) throw notFound('integration');
    return row;
  };

  return {
    secrets: [sealed.column] satisfies SealedColumn[],
    open,
    toResponse,
    lock,

    list: (actor: Actor, filter: IntegrationFilter): Promise<ReadRow[]> =>
      readFor(actor, (executor) => listIntegrations(executor, filter, actor.principal.id)),

    get: async (actor: Actor, id: string): Promise<ReadRow> => {
      const [row] = await readFor(actor, async (executor) => {
        const found = isId(id) ? await findIntegration(executor, id, actor.principal.id) : undefined;
        return found ? [found] : [];
      });
      if (!row) throw notFound('integration');
      return row;
    },

    /** Loads the integration that a path names, for operations that do not return credentials. */
    find: finder(db, 'integration', 'integration_id', (executor, id) => findIntegration(executor, id, '')),

    /** Throws 422 if the host of the url is an address that is not permitted. Names are checked at each connection. */
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

    /** Creates an integration with the global scope. */
    create: async (tx: Tx, actor: Actor, body: CreateBody): Promise<IntegrationRow> => {
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
      await audit(tx, actor, 'integration.create', id, {
        settings: sealed.masked({ ...settings, is_enabled }),
        version,
        description: row.description,
        is_system,
        debug,
      });
      return row;
    },

    /**
     * Changes the fields that `body` has. `before` is locked. `shown`: the response shows the credentials.
     */
    update: async (
      tx: Tx,
      actor: Actor,
      before: IntegrationRow,
      body: UpdateBody,
      { shown } = { shown: true },
    ): Promise<IntegrationRow> => {
      const { id } = before;
      const { settings, ...rest } = body;
      const row = await updateIntegration(tx, id, {
        ...withoutUndefined(rest),
        ...(settings ? { provider: settings.provider, settings: seal(id, settings) } : {}),
        ...(settings?.is_enabled === undefined ? {} : { is_enabled: settings.is_enabled }),
      });
      await audit(
        tx,
        actor,
        'integration.update',
        id,
        withoutUndefined({ ...rest, settings: settings && sealed.masked(settings) }),
      );
      // The response shows the settings to an actor who did not send them.
      if (shown && !settings) await auditReads(tx, actor, [id]);
      return row;
    },

    /** Deletes an integration. `row` is locked. */
    delete: async (tx: Tx, actor: Actor, row: IntegrationRow): Promise<void> => {
      await deleteIntegration(tx, row.id);
      await audit(tx, actor, 'integration.delete', row.id, {
        provider: row.provider,
        version: row.version,
        description: row.description,
      });
    },
  };
};

export type Integrations = ReturnType<typeof createIntegrations>;
