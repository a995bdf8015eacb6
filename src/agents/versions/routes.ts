import { z } from 'zod';
import type { Database, Executor, Tx } from '../../database/index.ts';
import {
  finder,
  jsonRoute,
  limit,
  listPage,
  pageOf,
  pageQuery,
  positionCursor,
  type Route,
  readPosition,
  sortedPage,
} from '../../http/index.ts';
import { differences } from '../../lib/differences.ts';
import { notFound, unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { type AgentHooks, lockAgent } from '../agents.ts';
import { publicAgent, toResponse } from '../responses.ts';
import { type Agent, findAgent } from '../store.ts';
import { abortCanary, promoteCanary, startCanary } from './canary.ts';
import { hashOf, shownContent, withContent, withDraft } from './content.ts';
import {
  canaryBody,
  compareQuery,
  publicPublication,
  publicVersion,
  publishBody,
  rollbackBody,
  versionWithContent,
} from './schemas.ts';
import { findPublication, findVersion, listPublications, listVersions, type VersionRow } from './store.ts';
import { discardDraft, publishDraft, rollBack } from './versions.ts';

const onePath = '/agents/{agent_id}';

const stateOf = (
  { version, canary }: Agent,
  row: VersionRow,
): 'published' | 'canary' | 'tested' | 'retired' => {
  if (row.number === version) return 'published';
  if (row.number === canary?.version) return 'canary';
  return row.published_at === null ? 'tested' : 'retired';
};

const toVersion = (agent: Agent, row: VersionRow) => {
  const content = shownContent(withContent(agent, row.content));
  return { ...row, state: stateOf(agent, row), content_hash: hashOf(content), content };
};

/** Returns the version that `reference` names: a number, `published` or `draft`. Throws 404. */
const readVersion = async (executor: Executor, agent: Agent, reference: string) => {
  if (reference === 'draft') {
    const content = shownContent(withDraft(agent));
    return {
      number: null,
      state: 'draft' as const,
      content_hash: hashOf(content),
      first_run: null,
      published_at: null,
      created_by: null,
      created_at: null,
      content,
    };
  }
  const isNumber = /^[1-9]\d{0,8}$/.test(reference);
  const number = reference === 'published' ? agent.version : isNumber ? Number(reference) : null;
  const row = number === null ? undefined : await findVersion(executor, agent.id, number);
  if (!row) throw notFound('version');
  return toVersion(agent, row);
};

/** Versions of agents: their list, publishing and rolling back, and canaries. Under v2 only. */
export const versionRoutes = (db: Database, hooks: AgentHooks): Route[] => {
  const find = finder(db, 'agent', 'agent_id', findAgent);
  const shared = { base: 'v2', find } as const;
  const reads = { ...shared, role: 'member', scope: 'agents:read' } as const;
  const acts = { ...shared, role: 'builder', scope: 'agents' } as const;
  const lock = (tx: Tx, { found }: { found: Agent }) => lockAgent(tx, found.id);
  return [
    jsonRoute({
      ...reads,
      id: 'listAgentVersions',
      request: `GET ${onePath}/versions`,
      summary: 'List the versions of an agent',
      query: z.object({ limit, next: z.string().optional() }),
      response: pageOf('AgentVersionPage', publicVersion),
      handler: async ({ found, query }) => {
        const [before = null] = readPosition(query.next, 'number', ['time']) ?? [];
        const rows = await db.run((executor) =>
          listVersions(executor, found.id, { limit: query.limit, before }),
        );
        return sortedPage(
          rows,
          query.limit,
          ({ number }) => positionCursor('number', [number]),
          (row) => toVersion(found, row),
        );
      },
    }),
    jsonRoute({
      ...reads,
      id: 'getAgentVersion',
      request: `GET ${onePath}/versions/{version}`,
      summary: 'Get a version of an agent',
      description: 'With its content. `version` is a number, `published` or `draft`.',
      query: compareQuery,
      response: versionWithContent,
      handler: ({ found, params, query }) =>
        db.run(async (executor) => {
          const version = await readVersion(executor, found, params.version!);
          if (query.compare_to === undefined) return version;
          const other = await readVersion(executor, found, query.compare_to).catch(() => {
            throw unprocessable([{ path: 'compare_to', message: 'is not a version of this agent' }]);
          });
          return { ...version, changes: differences(other.content, version.content) };
        }),
    }),
    jsonRoute({
      ...acts,
      id: 'discardAgentDraft',
      request: `DELETE ${onePath}/draft`,
      summary: 'Discard the draft of an agent',
      description: 'The draft is the published version again.',
      lock,
      handler: ({ transaction, actor }) => transaction((tx, agent) => discardDraft(tx, actor, agent)),
    }),
    jsonRoute({
      ...acts,
      id: 'publishAgent',
      request: `POST ${onePath}/publish`,
      summary: 'Publish the draft of an agent',
      description: 'Without a draft it returns the last publication, and nothing changes.',
      body: { schema: publishBody, optional: true },
      otherStatuses: [403, 422],
      response: publicPublication,
      idempotent: true,
      lock,
      handler: ({ body, transaction, actor }) =>
        transaction((tx, agent) => publishDraft(tx, actor, hooks, agent, body)),
    }),
    jsonRoute({
      ...acts,
      id: 'rollBackAgent',
      request: `POST ${onePath}/rollback`,
      summary: 'Roll an agent back to an earlier version',
      body: rollbackBody,
      otherStatuses: [403],
      response: publicPublication,
      idempotent: true,
      lock,
      handler: ({ body, transaction, actor }) =>
        transaction((tx, agent) => rollBack(tx, actor, hooks, agent, body)),
    }),
    jsonRoute({
      ...reads,
      id: 'listAgentPublications',
      request: `GET ${onePath}/publications`,
      summary: 'List the publications of an agent',
      query: pageQuery,
      response: pageOf('PublicationPage', publicPublication),
      handler: listPage(db, (executor, page, { found }) => listPublications(executor, found.id, page)),
    }),
    jsonRoute({
      ...reads,
      id: 'getAgentPublication',
      request: `GET ${onePath}/publications/{publication_id}`,
      summary: 'Get a publication of an agent',
      response: publicPublication,
      handler: async ({ found, params }) => {
        const id = params.publication_id!;
        const publication = isId(id)
          ? await db.run((executor) => findPublication(executor, found.id, id))
          : undefined;
        if (!publication) throw notFound('publication');
        return publication;
      },
    }),
    jsonRoute({
      ...acts,
      id: 'startCanary',
      request: `POST ${onePath}/canary`,
      summary: 'Start a canary of an agent',
      description:
        'A share of what is claimed runs another version. A schedule, and a conversation, has the same version while it lasts.',
      body: canaryBody,
      otherStatuses: [403],
      response: publicAgent,
      idempotent: true,
      lock,
      handler: ({ body, transaction, actor }) =>
        transaction(async (tx, agent) => toResponse(tx, await startCanary(tx, actor, agent, body))),
    }),
    jsonRoute({
      ...acts,
      id: 'promoteCanary',
      request: `POST ${onePath}/canary/promote`,
      summary: 'Publish the version of a canary',
      otherStatuses: [403],
      response: publicAgent,
      lock,
      handler: ({ transaction, actor }) =>
        transaction(async (tx, agent) => toResponse(tx, await promoteCanary(tx, actor, hooks, agent))),
    }),
    jsonRoute({
      ...acts,
      id: 'abortCanary',
      request: `POST ${onePath}/canary/abort`,
      summary: 'Abort a canary',
      description: 'Runs that have its version keep it.',
      otherStatuses: [403],
      response: publicAgent,
      lock,
      handler: ({ transaction, actor }) =>
        transaction(async (tx, agent) => toResponse(tx, await abortCanary(tx, actor, agent))),
    }),
  ];
};
