import { Watcher } from '../event-streams/index.ts';
import type { Feature, Services } from '../feature.ts';
import { workItemCalls, workItemsChannel } from '../work-items/index.ts';
import { answerTools, type Conversations } from './answer-tools.ts';
import { createProtocolHandler } from './handler.ts';
import { toolProtocolRoutes } from './routes.ts';
import { createAgentServers } from './server.ts';
import { workItemTools } from './work-item-tools.ts';

/** Agents as servers of the Model Context Protocol. */
export const createToolProtocol = (
  services: Services,
  { conversations }: { conversations: Conversations },
): Feature => {
  const { db, vault, log } = services;
  const watcher = new Watcher({
    db,
    log,
    name: 'tool protocol',
    channel: workItemsChannel,
    look: workItemCalls.listOpenness,
  });
  const protocol = createProtocolHandler(
    createAgentServers({
      worker: workItemTools({ db, vault, watcher }),
      conversational: answerTools(conversations, log),
    }),
  );
  return {
    tag: {
      name: 'Agent tool protocol',
      description: 'Agents as servers of the Model Context Protocol, for other programs and agents.',
    },
    routes: toolProtocolRoutes(services, protocol),
    start: async () => watcher.listen(),
    loops: [
      { role: 'api', start: () => watcher.start(), stop: () => watcher.stop(), pass: () => watcher.pass() },
    ],
    stop: () => protocol.close(),
  };
};
