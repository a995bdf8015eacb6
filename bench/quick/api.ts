import { setTimeout as sleep } from 'node:timers/promises';
import { client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { compare, credentialsOf, sidesOf, startSides } from '../api.ts';
import { body } from '../data/rig.ts';
import { percentile } from '../runtime/items.ts';
import { less, more, type QuickRow } from './row.ts';

const short = { warmSeconds: 2, seconds: 1, rounds: 2 };

/** Operations of the API in percent of bare Fastify with the same statements, and the Overview when it is computed. */
export const api = async (postgres: Postgres): Promise<QuickRow[]> => {
  await using rig = await startSides(postgres);
  const { platform, bare, operations } = rig;
  const rows: QuickRow[] = [];
  for (const operation of operations) {
    const [here, there] = await compare(sidesOf(operation, platform, bare), short);
    rows.push(more(`API, ${operation.name}, of bare Fastify`, '%', (100 * here!.rate) / there!.rate));
  }
  const [ours, theirs] = sidesOf(operations[0]!, platform, bare);
  const { cookie } = await credentialsOf(platform);
  const [byCookie, there] = await compare([{ ...ours, credential: cookie }, theirs], short);
  rows.push(more('API, read-schedule by cookie, of bare Fastify', '%', (100 * byCookie!.rate) / there!.rate));

  const app = client(`${platform.url}/app/api`, platform.key);
  const took: number[] = [];
  for (let n = 0; n < 5; n++) {
    // It is kept for two seconds.
    await sleep(2_100);
    const begun = performance.now();
    await body(app.get('/overview'));
    took.push(performance.now() - begun);
  }
  return [...rows, less('Overview, computed', 'ms', percentile(took, 0.5))];
};
