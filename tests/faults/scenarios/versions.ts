import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

export interface VersionsReport {
  /** Work Items by the version that they ended with. */
  versions: number;
  /** Work Items with more than one claim. */
  claimedAgain: number;
  problems: string[];
}

export interface VersionsSize {
  replicas: number;
  items: number;
  /** Publishes and rollbacks, in turn. */
  moves: number;
  kills: number;
}

/**
 * Versions are published and rolled back while Work Items run and replicas are killed, some of them in the middle of a
 * publish. At the end no Work Item has two versions between restarts, and the ledger of publications leads to the
 * version that is published.
 */
export const runVersions = async ({
  replicas,
  items,
  moves,
  kills,
}: VersionsSize): Promise<VersionsReport> => {
  await using fixture = await Fixture.open('postgres', replicas);
  const all = Array.from({ length: replicas }, (_, i) => i);
  await Promise.all(all.map((i) => fixture.start(i)));
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2, MAX_CONCURRENT_WORK_ITEMS: 16 }));
  const settings = { max_concurrency: 100, max_attempts: 10 };
  const fields = {
    name: 'Versioned',
    mode: 'worker',
    release: 'manual',
    instructions: 'Version 1',
    settings,
  };
  const agent = await must(api.post('/agents', fields));
  const path = `/agents/${agent.id}`;

  const payload = { mock: { steps: [{ text: 'done', delay_ms: 150 }] } };
  const create = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () =>
        must(api.post('/work-items', { agent_id: agent.id, message: 'Go', payload })),
      ),
    );
  // A request may be cut off by the kill of its replica: whether it took effect is what the ledger says.
  const attempt = (request: Promise<unknown>): Promise<unknown> => request.catch(() => undefined);
  let published = 1;
  for (let n = 0; n < moves; n++) {
    // Replica 0 is never killed: it creates the Work Items.
    const victim = 1 + (n % (replicas - 1));
    const isKilled = n < kills;
    const through = fixture.api(isKilled ? victim : 0);
    await create(Math.floor(((n + 1) * items) / moves) - Math.floor((n * items) / moves));
    let move: Promise<unknown>;
    if (n % 3 === 2 && published > 1) {
      move = attempt(through.post(`${path}/rollback`, { version: 1 }));
    } else {
      await attempt(through.patch(path, { instructions: `Version of move ${n}` }));
      move = attempt(through.post(`${path}/publish`, {}));
    }
    if (isKilled) {
      await sleep((n * 7) % 30);
      await fixture.kill(victim);
    }
    await move;
    if (isKilled) await fixture.start(victim);
    published = (await must(api.get(path))).version!;
  }
  await until(
    async () => {
      const [row] = await fixture.inspect((rows) =>
        rows<{ open: number }>(
          `select count(*)::int as open from work_items where status in ('PENDING', 'EXECUTING')`,
        ),
      );
      return row!.open === 0;
    },
    180_000,
    500,
  );

  interface Row {
    id: string;
    status: string;
    agent_version: number | null;
    claims: number;
    claimed: (number | null)[];
  }
  const rows = await fixture.inspect((query) =>
    query<Row>(`select w.id, w.status, w.agent_version, count(e.*)::int as claims,
        array_agg(distinct (e.details ->> 'agent_version')::int) as claimed
      from work_items w join work_item_events e on e.work_item_id = w.id and e.action = 'claim' group by w.id`),
  );
  const problems = rows.flatMap((row) =>
    row.status === 'COMPLETED' && row.claimed.length === 1 && row.claimed[0] === row.agent_version
      ? []
      : [JSON.stringify(row)],
  );
  if (rows.length !== items) problems.push(`${rows.length} of ${items} Work Items`);

  const ledger = (await must(api.get(`${path}/publications?limit=200`))).data as unknown as {
    state: string;
    from_version: number | null;
    version: number;
  }[];
  const moved = ledger.filter(({ state }) => state === 'published').reverse();
  let pointer: number | null = null;
  for (const { from_version, version } of moved) {
    if (pointer !== null && from_version !== pointer)
      problems.push(`a publication from ${from_version}, but ${pointer} was published`);
    pointer = version;
  }
  if (pointer !== published) problems.push(`the ledger leads to ${pointer}, but ${published} is published`);
  if (ledger.some(({ state }) => state === 'checking'))
    problems.push('a publication without a gate is checking');
  return {
    versions: new Set(rows.map(({ agent_version }) => agent_version)).size,
    claimedAgain: rows.filter(({ claims }) => claims > 1).length,
    problems,
  };
};
