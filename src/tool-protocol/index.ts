import type { Feature, Services } from '../feature.ts';
import { answerTools, type Conversations } from './answer-tools.ts';
import { createProtocolHandler } from './handler.ts';
import { toolProtocolRoutes } from './routes.ts';
import { createAgentServers } from './server.ts';
import { WorkItemWaits } from './waits.ts';
import { workItemTools } from './work-item-tools.ts';

/** Agents as servers of the Model Context Protocol. */
export const createToolProtocol = (
  services: Services,
  { conversations }: { conversations: Conversations },
): Feature => {
  const { db, vault, log } = services;
  const waits = new WorkItemWaits(db, log);
  const protocol = createProtocolHandler(
    createAgentServers({
      worker: workItemTools({ db, vault, waits }),
      conversational: answerTools(conversations, log),
    }),
  );
  return {
    tag: {
      name: 'Agent tool protocol',
      description: 'Agents as servers of the Model Context Protocol, for other programs and agents.',
    },
    routes: toolProtocolRoutes(services, protocol),
    start: async () => waits.listen(),
    loops: [{ role: 'api', start: () => waits.start(), stop: () => waits.stop(), pass: () => waits.pass() }],
    stop: () => protocol.close(),
  };
};
