import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import type { Services } from '../feature.ts';
import { type Context, finder } from '../http/index.ts';
import type { SealedColumn } from '../lib/crypto.ts';
import { EgressError } from '../lib/egress.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { withoutUndefined } from '../lib/objects.ts';
import type { Actor } from '../lib/principal.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { ChangesOf, ValuesOf } from '../resource/index.ts';
import { type ProviderSettings, plainSettings, type Settings } from './settings.ts';
import {
  deleteIntegration,
  findIntegration,
  findLockedIntegration,
  type IntegrationFilter,
  type IntegrationRow,
  insertIntegration,
  insertReads,
  insertScope,
  integrations,
  listIntegrations,
  type ReadRow,
} from './store.ts';
import { literalHost, resolveUrl } from './urls.ts';

export type CreateBody = ValuesOf<typeof integrations> & { settings: Settings };

/** PUT: an absent field stays as it is. PATCH has only `is_enabled` and `debug`. */
export type UpdateBody = Omit<ChangesOf<typeof integrations>, 'is_system'> & {
  settings?: Settings | undefined;
  is_enabled?: boolean | undefined;
};

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

  const recordReads = async (tx: Tx, actor: Actor, ids: readonly string[]): Promise<void> => {
    for (const id of await insertReads(tx, actor.principal.id, ids)) {
      await audit(tx, actor, 'integration.credentials_read', id);
    }
  };

  /** Audits that an actor sees the credentials of rows. Only the first read in an hour is audited. */
  const auditReads = async (actor: Actor, rows: readonly ReadRow[]): Promise<void> => {
    const unaudited = rows.filter((row) => !row.read_audited).map((row) => row.id);
    if (unaudited.length > 0) await db.tx((tx) => recordReads(tx, actor, unaudited));
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

    auditReads,

    /** Lists integrations for an actor who sees their credentials, which is audited. */
    list: async (actor: Actor, filter: IntegrationFilter): Promise<ReadRow[]> => {
      const rows = await db.run((executor) => listIntegrations(executor, filter, actor.principal.id));
      await auditReads(actor, rows);
      return rows;
    },

    /** Loads the integration that a path names. */
    find: ({ params, principal }: Pick<Context, 'params' | 'principal'>): Promise<ReadRow> =>
      finder(db, 'integration', 'integration_id', (executor, id) =>
        findIntegration(executor, id, principal.id),
      )({ params }),

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
        description,
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
      const row = await integrations.update(tx, id, rest, {
        is_enabled: settings?.is_enabled ?? body.is_enabled,
        ...(settings && { provider: settings.provider, settings: seal(id, settings) }),
      });
      await audit(
        tx,
        actor,
        'integration.update',
        id,
        withoutUndefined({ ...rest, settings: settings && sealed.masked(settings) }),
      );
      // The response shows the settings to an actor who did not send them.
      if (shown && !settings) await recordReads(tx, actor, [id]);
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
