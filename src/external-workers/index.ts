import type { Feature, Services } from '../feature.ts';
import type { ClaimBudgets } from './claims.ts';
import { type ExternalWorkerNeeds, externalWorkerRoutes } from './routes.ts';
import { WaitingRoom } from './waiting-room.ts';

/** External workers: programs of the user that claim the Work Items of agents with `execution: external`. */
export const createExternalWorkers = (
  { db, log, settings }: Services,
  { budgets, charges, onFinished }: ExternalWorkerNeeds & { budgets: ClaimBudgets },
): Feature => {
  const room = new WaitingRoom(db, log, onFinished);
  return {
    tag: {
      name: 'External workers',
      description: 'How a program of yours executes the Work Items of an agent with `execution: external`.',
    },
    routes: externalWorkerRoutes({ db, settings, budgets, room }, { charges, onFinished }),
    start: async () => room.listen(),
    loops: [{ role: 'api', start: () => room.start(), stop: () => room.stop(), pass: () => room.pass() }],
  };
};
