import {
  type Executor,
  json,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Tx,
} from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import type { Principal } from '../../lib/principal.ts';
import type { Gate } from '../gate.ts';
import type { Content } from '../store.ts';
import type { GateFigures } from './gatekeeper.ts';

/** SQL of versions and of their publications. */

/** The LLMs and tools that the first attempt with a version used. */
interface FirstRun {
  at: string;
  llms: { llm_id: string; revision: number; model: string }[];
  tools: { tool_name: string; definition_hash: string | null }[];
}

/** The models and tools of an attempt. */
export interface NamedInRun {
  llms: readonly { llm_id: string; model: string }[];
  tools: FirstRun['tools'];
}

export interface VersionRow {
  number: number;
  content: Content;
  first_run: FirstRun | null;
  published_at: Date | null;
  created_by: string | null;
  created_at: Date;
}

export interface Publication {
  id: string;
  kind: 'automatic' | 'publish' | 'rollback' | 'promote';
  state: 'checking' | 'published' | 'passed' | 'blocked' | 'inconclusive' | 'cancelled';
  from_version: number | null;
  version: number;
  note: string | null;
  reason: string | null;
  overridden: boolean;
  /** Null if a replica of the release before changed the agent. */
  by: { kind: string; id: string; name: string } | null;
  /** The figures of its check; null if no gate checked it. */
  gate: GateFigures | null;
  created_at: Date;
  finished_at: Date | null;
}

const versionColumns = sql`number, content, first_run, published_at, created_by, created_at`;
const publicationColumns = [
  'id',
  'kind',
  'state',
  'from_version',
  'version',
  'note',
  'reason',
  'overridden',
  'published_by as by',
  'gate',
  'created_at',
  'finished_at',
] as const;

declare module '../../database/database.ts' {
  interface Schema {
    agent_publications: Omit<Publication, 'by'> & {
      agent_id: string;
      published_by: Publication['by'];
      gate_rules: Gate | null;
      check_only: boolean;
      verdict_key: string | null;
    };
  }
}

/** Returns content as the columns of an agent hold it, and whether it is the published one. */
export const normalizeContent = async (
  tx: Tx,
  agentId: string,
  content: Content,
): Promise<{ content: Content; isPublished: boolean }> => {
  const { rows } = await sql<{ content: Content; isPublished: boolean }>`
    select given.content, given.content::jsonb = agent_content(a)::jsonb as "isPublished"
    from agents a cross join lateral (
      select agent_content(json_populate_record(a, ${json(content)}::json)) as content) given
    where a.id = ${agentId}`.execute(tx);
  return rows[0]!;
};

/** Freezes normalized content. Returns its number: the newest version's if that has it. The agent is locked. */
export const freeze = async (
  tx: Tx,
  agentId: string,
  content: Content,
  { id }: Principal,
): Promise<number> => {
  const { rows } = await sql<{ number: number }>`
    select freeze_agent_version(${agentId}, ${json(content)}::json) as number`.execute(tx);
  const { number } = rows[0]!;
  await sql`update agent_versions set created_by = ${id}
    where agent_id = ${agentId} and number = ${number} and created_by is null`.execute(tx);
  return number;
};

/** Says who made the first version of a new agent. */
export const setFirstAuthor = async (
  tx: Tx,
  agentId: string,
  { kind, id, name }: Principal,
): Promise<void> => {
  await sql`with version as (
      update agent_versions set created_by = ${id} where agent_id = ${agentId}
    ) update agent_publications set published_by = ${json({ kind, id, name })}::jsonb
    where agent_id = ${agentId}`.execute(tx);
};

/** The fields of a publication besides the versions. */
export interface NewPublication {
  kind: Publication['kind'];
  note?: string | null | undefined;
  reason?: string | null | undefined;
  overridden?: boolean;
  /** The check that becomes it. */
  checked?: string;
  /** Figures and rules of the gate's earlier verdict on it, and the key of that verdict. */
  verdict?: { gate: GateFigures; key: string; rules: Gate };
}

/**
 * Records that the pointer of the locked agent moves to a version. Returns the columns of the agent that say so: the
 * caller writes them together with the content.
 */
export const recordPublication = async (
  tx: Tx,
  agent: { id: string; version: number; latest_version: number },
  version: number,
  { kind, note = null, reason = null, overridden = false, checked, verdict }: NewPublication,
  { kind: by, id, name }: Principal,
) => {
  const publication = checked ?? newId();
  const published = sql`version as (
    update agent_versions set published_at = platform_now() where agent_id = ${agent.id} and number = ${version})`;
  if (checked !== undefined) {
    await sql`with ${published} update agent_publications set state = 'published', finished_at = platform_now()
      where id = ${checked}`.execute(tx);
  } else {
    await sql`with ${published} insert into agent_publications (id, agent_id, kind, state, from_version, version, note,
        reason, overridden, published_by, gate, gate_rules, verdict_key, finished_at)
      values (${publication}, ${agent.id}, ${kind}, 'published', ${agent.version}, ${version}, ${note}, ${reason},
        ${overridden}, ${json({ kind: by, id, name })}::jsonb, ${verdict ? json(verdict.gate) : null}::jsonb,
        ${verdict ? json(verdict.rules) : null}::jsonb, ${verdict?.key ?? null}, platform_now())`.execute(tx);
  }
  return {
    version,
    latest_version: Math.max(agent.latest_version, version),
    publication_id: publication,
  };
};

const contentSet = (
  columns: readonly string[],
): RawBuilder<unknown> => sql`(${sql.join(columns.map(sql.ref))}) =
  (select ${sql.join(columns.map((name) => sql`p.${sql.ref(name)}`))} from frozen p)`;

/** Writes content into the columns of the locked agent, with what `recordPublication` returned and its new draft. */
export const updatePublished = async (
  tx: Tx,
  agentId: string,
  columns: readonly string[],
  {
    content,
    pointer,
    draft,
  }: {
    content: Content;
    pointer: { version: number; latest_version: number; publication_id: string };
    draft: Content | null;
  },
): Promise<void> => {
  await sql`with frozen as (
      select p.* from agents a cross join lateral json_populate_record(a, ${json(content)}::json) p
      where a.id = ${agentId}
    ) update agents set ${contentSet(columns)}, version = ${pointer.version},
      latest_version = ${pointer.latest_version}, publication_id = ${pointer.publication_id},
      draft = ${draft && json(draft)}::json, canary = null, revision = revision + 1, updated_at = platform_now()
    where id = ${agentId}`.execute(tx);
};

/** Writes the draft of the locked agent; null: it is the published content. */
export const updateDraft = async (tx: Tx, agentId: string, draft: Content | null): Promise<void> => {
  await sql`update agents set draft = ${draft && json(draft)}::json, revision = revision + 1,
    updated_at = platform_now() where id = ${agentId}`.execute(tx);
};

/** Notes that the agent has a version that was frozen without being published. */
export const updateLatestVersion = async (tx: Tx, agentId: string, version: number): Promise<void> => {
  await sql`update agents set latest_version = greatest(latest_version, ${version}) where id = ${agentId}`.execute(
    tx,
  );
};

export const findVersion = async (
  executor: Executor,
  agentId: string,
  number: number,
): Promise<VersionRow | undefined> => {
  const { rows } = await sql<VersionRow>`select ${versionColumns} from agent_versions
    where agent_id = ${agentId} and number = ${number}`.execute(executor);
  return rows[0];
};

/** Versions below `before`, newest first, one more than `limit`. */
export const listVersions = async (
  executor: Executor,
  agentId: string,
  { limit, before }: { limit: number; before: number | null },
): Promise<VersionRow[]> => {
  const { rows } = await sql<VersionRow>`select ${versionColumns} from agent_versions
    where agent_id = ${agentId} and (${before}::integer is null or number < ${before}::integer)
    order by number desc limit ${limit + 1}`.execute(executor);
  return rows;
};

export const listPublications = (executor: Executor, agentId: string, page: Page): Promise<Publication[]> =>
  selectPage(
    executor.selectFrom('agent_publications').select(publicationColumns).where('agent_id', '=', agentId),
    page,
  );

export const findPublication = (
  executor: Executor,
  agentId: string,
  id: string,
): Promise<Publication | undefined> =>
  executor
    .selectFrom('agent_publications')
    .select(publicationColumns)
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();

/** Records what the first attempt with a version used, once. */
export const recordFirstRun = async (
  tx: Tx,
  agentId: string,
  number: number,
  { llms, tools }: NamedInRun,
): Promise<void> => {
  await sql`update agent_versions set first_run = jsonb_build_object(
      'at', to_char(platform_now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'tools', ${json(tools)}::jsonb,
      'llms', (select coalesce(jsonb_agg(jsonb_build_object('llm_id', g.llm_id, 'revision', l.revision, 'model', g.model)
        order by g.n), '[]') from unnest(${llms.map((llm) => llm.llm_id)}::uuid[], ${llms.map((llm) => llm.model)}::text[])
        with ordinality g(llm_id, model, n) join llm_configurations l on l.id = g.llm_id))
    where agent_id = ${agentId} and number = ${number} and first_run is null`.execute(tx);
};
