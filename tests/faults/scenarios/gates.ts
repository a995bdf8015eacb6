import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

export interface GatesReport {
  /** Checks that were in progress when a replica was killed. */
  interrupted: number;
  problems: string[];
}

const cases = 20;

interface PublicationRow {
  id: string;
  agent_id: string;
  state: string;
  version: number;
  audits: number;
  experiments: number;
}

/**
 * Two replicas publish through gates and without one while each in turn is killed at some instant: one agent gets better,
 * one worse. At the end each check has ended once, with what its verdict says, and the pointer of each agent agrees with
 * the ledger.
 */
export const runGates = async (kills: number): Promise<GatesReport> => {
  await using fixture = await Fixture.open('postgres', 2);
  await Promise.all([fixture.start(0), fixture.start(1)]);
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const graders = [{ type: 'contains', values: ['Fine'] }];
  const dataset = await must(api.post('/datasets', { name: 'Cases', graders }));
  const steps = [{ tool: 'current_time' }, { text: 'Fine.', delay_ms: 100 }];
  const content = Array.from({ length: cases }, (_, n) =>
    JSON.stringify({ input: { message: `Go ${n}`, payload: { mock: { steps } } } }),
  ).join('\n');
  await must(api.post(`/datasets/${dataset.id}/import`, { content }));
  const newAgent = (name: string, gate: object | null) =>
    must(api.post('/agents', { name, mode: 'worker', release: 'manual', gate }));
  const gate = { dataset_id: dataset.id, trials: 1 };
  const [better, worse, free] = [
    await newAgent('better', gate),
    await newAgent('worse', gate),
    await newAgent('free', null),
  ];

  const checks: { id: string; agent_id: string; state: 'published' | 'blocked' }[] = [];
  const check = async (
    replica: number,
    agent: { id?: string },
    state: 'published' | 'blocked',
    n: number,
  ) => {
    const at = fixture.api(replica);
    const settings = { max_steps: state === 'blocked' ? 1 : 20 };
    await must(at.patch(`/agents/${agent.id}`, { instructions: `${n}`, settings }));
    const { id } = await must(at.post(`/agents/${agent.id}/publish`, {}));
    checks.push({ id: id!, agent_id: agent.id!, state });
    return id!;
  };
  const stateOf = async (replica: number, { agent_id, id }: { agent_id: string; id: string }) =>
    (await must(fixture.api(replica).get(`/agents/${agent_id}/publications/${id}`)))
      .state as unknown as string;

  let interrupted = 0;
  /** Versions of the agent without a gate whose publish was answered. */
  let published = 1;
  for (let n = 0; n < kills; n++) {
    const [victim, other] = [n % 2, 1 - (n % 2)];
    const own = [
      { id: await check(other, better, 'published', n), agent_id: better.id! },
      { id: await check(other, worse, 'blocked', n), agent_id: worse.id! },
    ];
    let killed = false;
    const publishing = (async () => {
      for (let k = 0; !killed; k++) {
        const at = fixture.api(victim);
        try {
          await must(at.patch(`/agents/${free.id}`, { instructions: `${n} ${k}` }));
          published = (await must(at.post(`/agents/${free.id}/publish`, {}))).version!;
        } catch (error) {
          if (!killed) throw error;
        }
      }
    })();
    await sleep(((n * 617) % 2_500) + 200);
    for (const one of own) if ((await stateOf(other, one)) === 'checking') interrupted++;
    killed = true;
    await fixture.kill(victim);
    await publishing;
    await fixture.start(victim);
    for (const one of own) await until(async () => (await stateOf(other, one)) !== 'checking', 60_000, 50);
  }

  const problems: string[] = [];
  const rows = await fixture.inspect((query) =>
    query<PublicationRow>(`select p.id, p.agent_id, p.state, p.version,
      (select count(*)::int from audits a where a.action = 'agent.publish' and a.details ->> 'state' = p.state
        and a.details ->> 'publication_id' = p.id::text) as audits,
      (select count(*)::int from experiments e where e.publication_id = p.id) as experiments
      from agent_publications p where p.verdict_key is not null`),
  );
  if (rows.length !== checks.length) problems.push(`${rows.length} checks of ${checks.length}`);
  for (const { id, state } of checks) {
    const row = rows.find((one) => one.id === id);
    const experiments = state === 'blocked' ? 3 : 2;
    if (row?.state !== state || row.audits !== 1 || row.experiments !== experiments) {
      problems.push(`${state}: ${JSON.stringify(row)}`);
    }
  }
  const torn = await fixture.inspect((query) =>
    query(`select a.name, a.version, p.version as published, p.state, p.id from agents a
      left join agent_publications p on p.id = a.publication_id
      left join agent_versions v on v.agent_id = a.id and v.number = a.version
      where p.state is distinct from 'published' or p.version <> a.version or v.published_at is null
        or v.content::jsonb <> agent_content(a)::jsonb
        or exists (select from agent_publications o where o.agent_id = a.id and o.state = 'published' and o.id > p.id
          and o.finished_at > p.finished_at)`),
  );
  problems.push(...torn.map((row) => `pointer and ledger differ: ${JSON.stringify(row)}`));
  const { version } = await must(fixture.api().get(`/agents/${free.id}`));
  if (version! < published) problems.push(`version ${published} was published, and ${version} runs`);
  return { interrupted, problems };
};
