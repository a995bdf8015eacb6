import { z } from 'zod';
import type { Database, Executor, Tx } from '../../database/index.ts';
import {
  finder,
  IdempotentReplay,
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
import { ApiError, notFound, unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { type Principal, roleAllows } from '../../lib/principal.ts';
import { type AgentHooks, lockAgent } from '../agents.ts';
import { publicAgent, toResponse } from '../responses.ts';
import { type Agent, findAgent } from '../store.ts';
import { abortCanary, promoteCanary, startCanary } from './canary.ts';
import { cancelCheck } from './cancel-check.ts';
import { hashOf, shownContent, withContent, withDraft } from './content.ts';
import type { PublicationEnds } from './ends.ts';
import { publishDraft, refusalOf } from './publish.ts';
import {
  canaryBody,
  compareQuery,
  publicPublication,
  publicVersion,
  publishBody,
  rollbackBody,
  versionWithContent,
} from './schemas.ts';
import {
  findPublication,
  findVersion,
  listPublications,
  listVersions,
  type Publication,
  type VersionRow,
} from './store.ts';
import { discardDraft, rollBack } from './versions.ts';

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

/** Throws 403 for a body with `override_reason` of who is no admin. */
const checkMayOverride = ({ override_reason }: Record<string, unknown>, { role }: Principal): void => {
  if (override_reason == null || roleAllows(role, 'admin')) return;
  throw new ApiError('forbidden', 'Only admins override the gate of an agent (`override_reason`).');
};

/** Returns the publication with the id. Throws 404. */
const requirePublication = async (executor: Executor, agentId: string, id: string): Promise<Publication> => {
  const publication = isId(id) ? await findPublication(executor, agentId, id) : undefined;
  if (!publication) throw notFound('publication');
  return publication;
};

/** Versions of agents: their list, publishing and rolling back, and canaries. Under v2 only. */
export const versionRoutes = (
  db: Database,
  hooks: AgentHooks,
  { watcher }: Pick<PublicationEnds, 'watcher'>,
): Route[] => {
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
      description:
        'With a gate the draft is checked first: the response is a 202 with a publication that goes on by itself, and publishes when it passes; 412 with `publication` if the gate blocks it or cannot decide. Without a draft it returns the last publication, and nothing changes.',
      body: { schema: publishBody, optional: true, precheck: checkMayOverride },
      otherStatuses: [403, 422],
      response: { 200: publicPublication, 202: publicPublication },
      idempotent: true,
      lock,
      handler: async ({ found, body, transaction, actor, header, accepted, signal }) => {
        let publication: Publication | undefined;
        try {
          publication = await transaction((tx, agent) => publishDraft(tx, actor, hooks, agent, body));
        } catch (error) {
          if (!(error instanceof IdempotentReplay)) throw error;
          // Returns the publication of the first request, as it is by now.
          header('idempotency-replayed', 'true');
          publication = { ...(error.response.body as Publication), state: 'checking' };
        }
        const { id } = publication;
        if (publication.state === 'checking') {
          publication = await watcher.readUntil(
            id,
            () => db.run((executor) => findPublication(executor, found.id, id)),
            (now) => now?.state !== 'checking',
            { seconds: body.wait_seconds, signal },
          );
        }
        if (!publication) throw notFound('agent');
        if (publication.state === 'checking') accepted();
        else if (publication.state !== 'published' && publication.state !== 'passed') {
          throw refusalOf(publication);
        }
        return publication;
      },
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
      handler: ({ found, params }) =>
        db.run((executor) => requirePublication(executor, found.id, params.publication_id!)),
    }),
    jsonRoute({
      ...acts,
      id: 'cancelAgentPublication',
      request: `POST ${onePath}/publications/{publication_id}/cancel`,
      summary: 'Cancel the check of a publication',
      description: 'Its experiments are cancelled as well. Returns 412 if it is not being checked.',
      response: publicPublication,
      lock,
      handler: ({ params, transaction, actor }) =>
        transaction(async (tx, agent) => {
          const { id, state } = await requirePublication(tx, agent.id, params.publication_id!);
          if (state !== 'checking') {
            throw new ApiError('precondition_failed', 'The publication is not being checked.', { state });
          }
          await cancelCheck(tx, actor, hooks, agent);
          return requirePublication(tx, agent.id, id);
        }),
    }),
    jsonRoute({
      ...acts,
      id: 'startCanary',
      request: `POST ${onePath}/canary`,
      summary: 'Start a canary of an agent',
      description:
        'A share of what is claimed runs another version. A schedule, and a conversation, has the same version while it lasts.',
      body: { schema: canaryBody, precheck: checkMayOverride },
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
