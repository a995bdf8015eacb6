import { z } from 'zod';
import { agentCalls } from '../../agents/index.ts';
import { costFields } from '../../charges/index.ts';
import type { Database, Executor } from '../../database/index.ts';
import {
  cursorOf,
  finder,
  id,
  jsonObject,
  jsonRoute,
  jsonValue,
  pageOf,
  type Route,
  sortedPage,
  timestamp,
} from '../../http/index.ts';
import { notFound } from '../../lib/errors.ts';
import { roles } from '../../lib/principal.ts';
import { wholeUsage } from '../../lib/usage.ts';
import { shownApprovals } from '../../runs/index.ts';
import { listAttempts } from '../attempt-store.ts';
import { type Attempt, attemptOutcomes } from '../attempts.ts';
import { joinedFields, joinedOf } from '../list/row-schema.ts';
import { findQueues, listRows } from '../list/row-store.ts';
import { shownMessage } from '../message-routes.ts';
import { listShownConversations, listShownMessages } from '../message-store.ts';
import type { WorkItemNeeds } from '../routes.ts';
import { publicTrace, publicWorkItem, usage } from '../schemas.ts';
import { allowedActions } from '../states.ts';
import { findWorkItemId } from '../store.ts';
import { lastEventId } from '../stream-position.ts';
import { type DetailRow, findDetail, type ShownValue } from './store.ts';

const messagesOfPage = 50;
/** Links are made for the traces of so many attempts, the last ones. */
const linkedTraces = 5;

const cutValue = z
  .object({
    bytes: z.int().describe('The size of the whole value.'),
    head: z.string().describe('The beginning of its text.'),
  })
  .nullable();

const attempt = z
  .object({
    n: z.int().describe('Counted from 1 after the creation, a continue and a restart.'),
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null while it runs.'),
    outcome: z
      .enum(attemptOutcomes)
      .nullable()
      .describe(
        'The status that it ended in; `RETRY`: it failed and another one follows. `RELEASED`: its replica was stopped; it does not count. `LOST`: its worker was lost.',
      ),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    replica: z.string().nullable().describe('Where it ran: the replica, or the external worker.'),
    trace_id: z.string().nullable(),
    usage: usage.nullable().describe('What its model calls used; null if that is not known.'),
    ...costFields,
  })
  .meta({ id: 'WorkItemAttempt' });

const detail = publicWorkItem
  .omit({ attempts: true, payload: true, result: true })
  .extend({
    ...joinedFields,
    approval_role: z
      .enum(roles)
      .nullable()
      .describe(
        'Who may decide on the tool calls of the agent: this role or a higher one. null if it was deleted.',
      ),
    attempt_count: z.int().describe('Attempts that began since it was created, continued or restarted.'),
    payload: jsonObject.nullable().describe('null if it is large: then `payload_cut` has its beginning.'),
    payload_cut: cutValue,
    result: jsonValue.describe('The reply of the agent; null before, and if it is large.'),
    result_cut: cutValue.describe('The beginning of a large result.'),
    attempts: z.array(attempt).describe('All attempts, oldest first.'),
    conversations: z
      .array(
        z.object({
          id,
          n: z.int().describe('1 is the first; a restart begins another one.'),
          current: z.boolean(),
          began_at: timestamp.nullable().describe('null while it has no messages.'),
          messages: z.int(),
        }),
      )
      .describe('Oldest first.'),
    links: z
      .array(publicTrace.shape.links.element.extend({ trace_id: z.string() }))
      .describe('Where the traces of the last attempts can be seen.'),
    messages: pageOf('FirstShownMessages', shownMessage).describe('The first page of messages.'),
    last_event_id: z
      .int()
      .describe('Send it as `Last-Event-ID` to the stream, to follow what happens from here on.'),
  })
  .meta({ id: 'WorkItemDetail' });

const cutOf = ({ bytes, head }: ShownValue) => (head === null ? null : { bytes, head });

const readLinks = async (
  executor: Executor,
  traceLinks: WorkItemNeeds['traceLinks'],
  agentId: string,
  traceIds: readonly string[],
) => {
  const links = [];
  for (const trace_id of traceIds.slice(-linkedTraces)) {
    const found = await traceLinks(executor, agentId, trace_id);
    links.push(...found.map((link) => ({ trace_id, ...link })));
  }
  return links;
};

/** The last attempt has the trace of the Work Item, also if no step was recorded. */
const withTraces = (attempts: Attempt[], { trace_id }: DetailRow): Attempt[] => {
  const last = attempts.at(-1);
  if (last) last.trace_id ??= trace_id;
  return attempts;
};

const readConversations = async (executor: Executor, workItemId: string, current: string) => {
  const found = await listShownConversations(executor, workItemId);
  const begun = found.some((one) => one.id === current);
  const all = begun ? found : [...found, { id: current, began_at: null, messages: 0 }];
  return all.map((one, index) => ({ ...one, n: index + 1, current: one.id === current }));
};

const readDetail = async (
  executor: Executor,
  traceLinks: WorkItemNeeds['traceLinks'],
  workItemId: string,
): Promise<z.input<typeof detail> | undefined> => {
  // First: what happens in the meantime is sent by the stream, even if it is shown already.
  const last_event_id = await lastEventId(executor, workItemId);
  const [row] = await listRows(executor, [workItemId]);
  const item = await findDetail(executor, workItemId);
  if (!row || !item) return undefined;
  const queues = await findQueues(executor, [row]);
  const agent = row.agent_exists
    ? await agentCalls.getPinned(executor, row.agent_id, row.agent_version)
    : undefined;
  const attempts = withTraces(await listAttempts(executor, workItemId), item);
  const page = { limit: messagesOfPage, next: null };
  const messages = await listShownMessages(executor, workItemId, attempts, page);
  const traceIds = [...new Set(attempts.flatMap(({ trace_id }) => trace_id ?? []))];
  const { payload, result, callbacks, pending_approvals, open_review, ...shown } = item;
  return {
    ...row,
    ...joinedOf(row, queues.get(row.id) ?? null),
    ...shown,
    scheduled_for: row.occurrence,
    allowed_actions: allowedActions(row.status, row.agent_exists),
    usage: wholeUsage(row.usage),
    review_id: open_review?.id ?? null,
    pending_approvals: shownApprovals(pending_approvals, open_review),
    callbacks: callbacks ?? [],
    files: [],
    approval_role: agent?.approval_role ?? null,
    attempt_count: row.attempts,
    payload: payload.value as Record<string, unknown> | null,
    payload_cut: cutOf(payload),
    result: result.value,
    result_cut: cutOf(result),
    attempts: attempts.map((one) => ({ ...one, usage: wholeUsage(one.usage) })),
    conversations: await readConversations(executor, workItemId, item.conversation_id),
    links: await readLinks(executor, traceLinks, row.agent_id, traceIds),
    messages: sortedPage(
      messages,
      page.limit,
      ({ id }) => cursorOf(id),
      (message) => message,
    ),
    last_event_id,
  };
};

export const workItemPageRoutes = (
  db: Database,
  { traceLinks }: Pick<WorkItemNeeds, 'traceLinks'>,
): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItemId);
  return [
    jsonRoute({
      id: 'getWorkItemDetail',
      role: 'member',
      scope: 'work_items:read',
      base: 'app',
      request: 'GET /work-items/{work_item_id}',
      summary: 'Get a Work Item with all that its page shows',
      description: 'With its attempts, conversations, links to traces and the first page of messages.',
      find,
      cache: 'content',
      response: detail,
      handler: async ({ found }) => {
        const shown = await db.run((executor) => readDetail(executor, traceLinks, found.id));
        if (!shown) throw notFound('Work Item');
        return shown;
      },
    }),
  ];
};
