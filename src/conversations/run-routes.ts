import type { Database } from '../database/index.ts';
import {
  eventStream,
  eventStreamHeaders,
  eventStreamType,
  lastEventIdOf,
  lastEventIdQuery,
  type OpenStreams,
  type Watcher,
} from '../event-streams/index.ts';
import { IdempotentReplay, jsonRoute, type Route, type StreamContext, streamRoute } from '../http/index.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { conversationFinder } from './conversations.ts';
import { conversationSource, createReadEvents, findStretch, type Stretch, stretchOfRun } from './follow.ts';
import { onePath } from './routes.ts';
import { cancelRun, toResponse, waitForRun } from './runs.ts';
import { messageBody, publicRun, type RunResponse } from './schemas.ts';
import { sendMessage } from './send-message.ts';

export interface RunParts {
  db: Database;
  watcher: Watcher;
  openStreams: OpenStreams;
}

/** Throws 400 for a body that says nothing. */
const checkMessage = ({ content, decisions }: Record<string, unknown>): void => {
  const decides = Array.isArray(decisions) ? decisions.length > 0 : decisions != null;
  if (content != null || decides) return;
  throw badRequest('Send `content`, a message, or `decisions` about what waits for a person.');
};

export const runRoutes = ({ db, watcher, openStreams }: RunParts): Route[] => {
  const find = conversationFinder(db);
  const readEvents = createReadEvents(db);
  /** The response of a stream; `signal` is aborted when the client leaves. */
  const follow = ({ header, signal }: Pick<StreamContext, 'header' | 'signal'>, stretch: Stretch) => {
    for (const [name, value] of Object.entries(eventStreamHeaders)) header(name, value);
    const openWatch = () => watcher.watch(stretch.conversationId);
    return eventStream(conversationSource(db, readEvents, stretch), openWatch, signal);
  };
  const common = { role: 'member', find } as const;
  return [
    jsonRoute({
      ...common,
      id: 'sendMessage',
      scope: 'conversations',
      request: `POST ${onePath}/messages`,
      summary: 'Send a message',
      description:
        'Begins a run of the agent, or continues the one that waits for a person, and waits for its end, at most `wait_seconds`. A run that fails is a 200 with `error`.',
      otherStatuses: [412],
      body: { schema: messageBody, precheck: checkMessage },
      response: publicRun,
      idempotent: true,
      handler: async ({ found, body, transaction, actor, header, signal }) => {
        let begun: RunResponse;
        try {
          begun = await transaction(async (tx) =>
            toResponse(tx, await sendMessage(tx, found.conversation.id, { actor, said: body })),
          );
        } catch (error) {
          if (!(error instanceof IdempotentReplay)) throw error;
          // Returns the run of the first request, as it is by now.
          header('idempotency-replayed', 'true');
          begun = error.response.body as RunResponse;
        }
        const run = await waitForRun(db, watcher, begun, { seconds: body.wait_seconds, signal });
        if (!run) throw notFound('conversation');
        return db.run((executor) => toResponse(executor, run));
      },
    }),
    streamRoute({
      ...common,
      id: 'streamMessage',
      scope: 'conversations',
      request: `POST ${onePath}/stream`,
      summary: 'Send a message and follow its run',
      description:
        'The same as sending a message, with the events of the run as the response (server-sent events). A disconnect does not cancel the run.',
      otherStatuses: [412],
      body: { schema: messageBody, precheck: checkMessage },
      type: eventStreamType,
      handler: async (context) => {
        const { found, body, transaction, actor, principal, signal } = context;
        const { id } = found.conversation;
        openStreams.open(principal, signal);
        const run = await transaction((tx) => sendMessage(tx, id, { actor, said: body }));
        return follow(context, stretchOfRun(id, run.first_seq));
      },
    }),
    streamRoute({
      ...common,
      id: 'followConversation',
      scope: 'conversations:read',
      request: `GET ${onePath}/stream`,
      summary: 'Follow a conversation',
      description:
        'The events after `Last-Event-ID`, or without it those of the active run from its start, and then what happens (server-sent events).',
      otherStatuses: [400],
      query: lastEventIdQuery,
      type: eventStreamType,
      orNothing: true,
      handler: async (context) => {
        const { found, headers, query, principal, signal } = context;
        const lastEventId = lastEventIdOf(headers, query);
        const { id } = found.conversation;
        const stretch = await db.run((executor) => findStretch(executor, id, lastEventId));
        if (!stretch) return null;
        openStreams.open(principal, signal);
        return follow(context, stretch);
      },
    }),
    jsonRoute({
      ...common,
      id: 'cancelRun',
      scope: 'conversations',
      request: `POST ${onePath}/cancel`,
      summary: 'Cancel the run of a conversation',
      otherStatuses: [412],
      response: publicRun,
      handler: ({ found, transaction, actor }) =>
        transaction((tx) => cancelRun(tx, found.conversation.id, actor)),
    }),
  ];
};
