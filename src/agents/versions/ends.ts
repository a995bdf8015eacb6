import { LRUCache } from 'lru-cache';
import { type Database, notify, type Tx } from '../../database/index.ts';
import { Watcher } from '../../event-streams/index.ts';
import type { Logger } from '../../lib/log.ts';
import { counter, type Metric } from '../../lib/metrics.ts';
import { listEnded } from './check-store.ts';
import type { Publication } from './store.ts';

/** The channel that says that a publication has ended; the payload is its id. */
const channel = 'publications';

const states: readonly Publication['state'][] = [
  'published',
  'passed',
  'blocked',
  'inconclusive',
  'cancelled',
];

/** The ends of publications: who waits for one is woken, and this replica counts those that it committed. */
export interface PublicationEnds {
  /** Says that the publication ends in this transaction. */
  ended(tx: Tx, id: string, state: Publication['state']): Promise<void>;
  watcher: Watcher;
  metric: Metric;
  listen(): void;
}

export const createPublicationEnds = (db: Database, log: Logger): PublicationEnds => {
  const finished = counter(
    'agent_platform_publications_total',
    'Publications of agents that ended on this replica, by their state',
    ['state'],
  );
  for (const state of states) finished.inc({ state }, 0);
  // Of a transaction that is rolled back no notification comes: its entry is never counted, and makes room for others.
  const expected = new LRUCache<string, Publication['state']>({ max: 1_000 });
  const watcher = new Watcher({ db, log, name: 'publications', channel, look: listEnded });
  return {
    ended: async (tx, id, state) => {
      expected.set(id, state);
      await notify(tx, channel, `${id}:1`);
    },
    watcher,
    metric: finished,
    listen: () => {
      watcher.listen();
      db.listen(channel, (payload) => {
        const id = payload?.split(':')[0];
        const state = id === undefined ? undefined : expected.get(id);
        if (id === undefined || state === undefined) return;
        expected.delete(id);
        finished.inc({ state });
      });
    },
  };
};
