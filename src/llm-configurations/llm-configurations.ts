import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { fingerprint, type SealedColumn, Secret, type Vault } from '../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import {
  deleteLlm,
  findDefaultLlm,
  findLlm,
  insertLlm,
  type LlmKind,
  type LlmRow,
  lockLlmForShare,
  setDefaultLlm,
  updateLlm,
} from './store.ts';

/** A configuration as the agent runtime uses it, its secrets opened. */
export interface ResolvedLlm {
  id: string;
  kind: LlmKind;
  model: string;
  /** Null for a kind that sends nothing. */
  base_url: string | null;
  apiKey: Secret | null;
  headers: Record<string, Secret>;
}

/** Who acts, and in which request: what an audit entry needs. */
export interface Actor {
  principal: Principal;
  requestId: string;
}

/** What a client gave; undefined leaves a field as it is (on create: empty), null clears it. */
export interface LlmFields {
  name?: string;
  model?: string;
  base_url?: string;
  api_key?: string | null;
  headers?: Record<string, string> | null;
}

const boundTo = (id: string, column: 'api_key' | 'headers') => `llm_configurations:${id}:${column}`;

/** What of LLM configurations is encrypted at rest. */
export const llmSecrets: SealedColumn[] = (['api_key', 'headers'] as const).map((column) => ({
  table: 'llm_configurations',
  column,
  boundTo: (id) => boundTo(id, column),
}));

/** What the database is given for `fields`: secrets sealed for their row, absent fields absent. */
const sealFields = (vault: Vault, id: string, { api_key, headers, ...rest }: LlmFields) => ({
  ...rest,
  ...(api_key === undefined
    ? {}
    : { api_key: api_key === null ? null : vault.seal(api_key, boundTo(id, 'api_key')) }),
  ...(headers === undefined
    ? {}
    : {
        headers:
          headers === null || Object.keys(headers).length === 0
            ? null
            : vault.seal(JSON.stringify(headers), boundTo(id, 'headers')),
      }),
});

/** What the audit log says of `fields`: secrets as fingerprints. */
const auditFields = ({ api_key, headers, ...rest }: LlmFields): Record<string, unknown> => ({
  ...rest,
  ...(api_key === undefined ? {} : { api_key: api_key === null ? null : fingerprint(api_key) }),
  ...(headers === undefined
    ? {}
    : {
        headers: Object.fromEntries(
          Object.entries(headers ?? {}).map(([name, value]) => [name, fingerprint(value)]),
        ),
      }),
});

const openHeaders = (vault: Vault, row: LlmRow): Record<string, string> =>
  row.headers === null
    ? {}
    : (JSON.parse(vault.open(row.headers, boundTo(row.id, 'headers'))) as Record<string, string>);

/** The names of the row's secret headers. */
export const headerNames = (vault: Vault, row: LlmRow): string[] => Object.keys(openHeaders(vault, row));

export const resolve = (vault: Vault, row: LlmRow): ResolvedLlm => ({
  id: row.id,
  kind: row.kind,
  model: row.model,
  base_url: row.base_url,
  apiKey: row.api_key === null ? null : new Secret(vault.open(row.api_key, boundTo(row.id, 'api_key'))),
  headers: Object.fromEntries(
    Object.entries(openHeaders(vault, row)).map(([name, value]) => [name, new Secret(value)]),
  ),
});

/** Whether an agent may be given this configuration; it then stays until `tx` ends, so that the answer holds. */
export const llmExists = (tx: Tx, id: string): Promise<boolean> => lockLlmForShare(tx, id);

/** The configuration `llmId`, or the default where it is null. Throws where a given one does not exist. */
export const resolveLlm = async (
  executor: Executor,
  vault: Vault,
  llmId: string | null,
): Promise<ResolvedLlm> => {
  const row = llmId === null ? await findDefaultLlm(executor) : await findLlm(executor, llmId);
  if (!row) throw notFound('LLM configuration');
  return resolve(vault, row);
};

/** The row as it is now; 404 where another request deleted it since it was found. */
const read = async (tx: Tx, id: string): Promise<LlmRow> => {
  const row = await findLlm(tx, id);
  if (!row) throw notFound('LLM configuration');
  return row;
};

export const createLlm = async (
  tx: Tx,
  vault: Vault,
  actor: Actor,
  { kind, ...fields }: LlmFields & { kind: LlmKind; name: string; model: string },
): Promise<LlmRow> => {
  const id = newId();
  await insertLlm(tx, {
    id,
    kind,
    base_url: null,
    api_key: null,
    headers: null,
    ...sealFields(vault, id, fields),
    name: fields.name,
    model: fields.model,
  });
  await audit(tx, actor.principal, {
    action: 'llm_configuration.create',
    targetType: 'llm_configuration',
    targetId: id,
    details: { kind, ...auditFields(fields) },
    requestId: actor.requestId,
  });
  return read(tx, id);
};

export const updateLlmConfiguration = async (
  tx: Tx,
  vault: Vault,
  actor: Actor,
  id: string,
  fields: LlmFields,
): Promise<LlmRow> => {
  await updateLlm(tx, id, sealFields(vault, id, fields));
  const row = await read(tx, id);
  await audit(tx, actor.principal, {
    action: 'llm_configuration.update',
    targetType: 'llm_configuration',
    targetId: id,
    details: auditFields(fields),
    requestId: actor.requestId,
  });
  return row;
};

/** 412 for the default and for one that agents use; 404 where it is gone. */
export const removeLlm = async (tx: Tx, actor: Actor, row: LlmRow): Promise<void> => {
  const { deleted, use } = await deleteLlm(tx, row.id);
  if (use === 'default') {
    throw new ApiError(
      'precondition_failed',
      'This LLM configuration is the default. Make another one the default first (PUT /llm-configurations/defaults).',
      { llm_id: row.id },
    );
  }
  if (use === 'agents') {
    throw new ApiError(
      'precondition_failed',
      'Agents use this LLM configuration. Give them another one first.',
      { llm_id: row.id },
    );
  }
  if (!deleted) throw notFound('LLM configuration');
  await audit(tx, actor.principal, {
    action: 'llm_configuration.delete',
    targetType: 'llm_configuration',
    targetId: row.id,
    details: { name: row.name, kind: row.kind },
    requestId: actor.requestId,
  });
};

/** Make `id` what an agent without `llm_id` uses; 422 where there is no such configuration. */
export const changeDefault = async (tx: Tx, actor: Actor, id: string): Promise<void> => {
  if (!(await lockLlmForShare(tx, id))) {
    throw unprocessable([{ path: 'llm_id', message: 'there is no such LLM configuration' }], { llm_id: id });
  }
  const before = await setDefaultLlm(tx, id);
  if (before === id) return;
  await audit(tx, actor.principal, {
    action: 'llm_configuration.set_default',
    targetType: 'llm_configuration',
    targetId: id,
    details: { before },
    requestId: actor.requestId,
  });
};
