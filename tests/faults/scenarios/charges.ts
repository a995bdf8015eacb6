import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, client } from '../../harness/http.ts';
import { completion, startEndpoint, wireCall } from '../../harness/llm-endpoint.ts';
import { type PostgresProxy, startPostgresProxy } from '../../harness/postgres-proxy.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must, newLlm, type Rows } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const leaseSeconds = 2;
/** The prompt of call n has so many tokens more than n: each reply is recognized in its charge. */
const base = 1_000;

export interface ChargesReport {
  problems: string[];
  /** Replies that the endpoint sent. */
  replies: number;
  charges: number;
  /** Charges that no run stored: its lease was lost, or its transaction failed. */
  late: number;
  unknown: number;
  /** Replies without a charge, and attempts that lost their lease: each may have had one call in flight. */
  missing: number;
  lost: number;
  kills: number;
  stops: number;
  /** Transactions that were cut off at their COMMIT, before it or after. */
  cuts: number;
}

/** Sums that must agree, as rows of {what, should, is}. */
const comparisons = `
  with of_items as (
    select work_item_id as id, coalesce(sum(amount_nano_usd), 0) as cost, count(*) filter (where amount_nano_usd is null) as unknown
    from charges where work_item_id is not null group by 1
  ), of_runs as (
    select run_id as id, coalesce(sum(amount_nano_usd), 0) as cost, count(*) filter (where amount_nano_usd is null) as unknown
    from charges where run_id is not null group by 1
  )
  select 'Work Item ' || w.id as what, coalesce(c.cost, 0) || ' ' || coalesce(c.unknown, 0) as should,
    w.cost_nano_usd || ' ' || w.unknown_calls as is
  from work_items w left join of_items c on c.id = w.id
  union all
  select 'run ' || r.id, coalesce(c.cost, 0) || ' ' || coalesce(c.unknown, 0), r.cost_nano_usd || ' ' || r.unknown_calls
  from conversation_runs r left join of_runs c on c.id = r.id
  union all
  select 'charges of nothing', '0', count(*)::text from charges where work_item_id is null and run_id is null
  union all
  select 'all', (select coalesce(sum(amount_nano_usd), 0) from charges)::text,
    ((select sum(cost_nano_usd) from work_items) + (select coalesce(sum(cost_nano_usd), 0) from conversation_runs))::text
  union all
  select 'agent ' || a.id, (select coalesce(sum(amount_nano_usd), 0) from charges where agent_id = a.id)::text,
    ((select coalesce(sum(cost_nano_usd), 0) from work_items where agent_id = a.id)
      + (select coalesce(sum(cost_nano_usd), 0) from conversation_runs where agent_id = a.id))::text
  from agents a
  union all
  select 'principal ' || p.created_by, (select coalesce(sum(amount_nano_usd), 0) from charges where principal_id = p.created_by
      and work_item_id is not null)::text, sum(p.cost_nano_usd)::text
  from work_items p group by p.created_by
  union all
  select 'budget', (select sum(coalesce(amount_nano_usd, assumed_nano_usd, 0)) from charges)::text, sum(spent)::text
  from budget_totals`;

/** Cuts one in two hundred connections at a COMMIT, or at a charge that is written alone. */
const cutting = async (url: string, cut: () => void): Promise<PostgresProxy> => {
  const proxy = await startPostgresProxy(url);
  proxy.decide = ({ text, transaction }) => {
    const isCharge = text.includes('insert into charges') && transaction.length === 1;
    if (!/^\s*commit/i.test(text) && !isCharge) return 'pass';
    const chance = Math.random();
    if (chance >= 0.005) return 'pass';
    cut();
    return chance < 0.0025 ? 'cut before' : 'cut after';
  };
  return proxy;
};

/**
 * Work Items and runs of conversations call a model over HTTP and the mock on two replicas, which are killed and stand still
 * for longer than their lease, and whose connections to the database are cut at COMMITs. At the end all sums over charges
 * must agree, and no reply may be charged twice, or be lost but for those that a killed process had in flight.
 */
export const runCharges = async (calls: number, faults: number): Promise<ChargesReport> => {
  await using fixture = await Fixture.open('postgres', 2);
  let isDone = false;
  const sent = new Set<number>();
  await using endpoint = await startEndpoint(async ({ body }, n) => {
    await sleep(Math.random() * 80);
    sent.add(n);
    const isFirst = !body.messages.some(({ role }: Json) => role === 'assistant');
    const reply = isFirst
      ? completion({ tool_calls: [wireCall('call-1', 'current_time', { timezone: 'UTC' })] }, 'tool_calls')
      : completion({ content: 'Done.' });
    const usage = { prompt_tokens: base + n, completion_tokens: 7, total_tokens: base + n + 7 };
    return { body: { ...reply, usage } };
  });
  const report: ChargesReport = {
    problems: [],
    replies: 0,
    charges: 0,
    late: 0,
    unknown: 0,
    missing: 0,
    lost: 0,
    kills: 0,
    stops: 0,
    cuts: 0,
  };
  const cut = () => {
    report.cuts++;
  };
  const inspect = <T>(fn: (rows: Rows) => Promise<T>) =>
    until(async () => ({ value: await fixture.inspect(fn) })).then(({ value }) => value);

  await Promise.all([fixture.start(0), fixture.start(1)]);
  const api = fixture.api();
  const settings = { WORK_ITEM_LEASE_SECONDS: leaseSeconds, RATE_LIMIT_REQUESTS_PER_SECOND: 0 };
  await must(api.patch('/advanced-settings', settings));
  const llm = await newLlm(api, endpoint.url, { max_output_tokens: 100 });
  await must(api.post('/prices', { model: '*', rates: { input: '3', output: '15' } }));
  await must(
    api.post('/budgets', {
      name: 'B',
      scope: { kind: 'workspace' },
      unit: 'nano_usd',
      limit: 9e15,
      period: 'total',
    }),
  );
  const newAgent = (fields: object) =>
    must(
      api.post('/agents', { mode: 'worker', settings: { max_attempts: 20, max_concurrency: 12 }, ...fields }),
    );
  const agents: Json[] = [
    await newAgent({ name: 'A', llm_id: llm.id }),
    await newAgent({ name: 'B', llm_id: llm.id }),
    await newAgent({ name: 'mock' }),
  ];
  const talker: Json = await newAgent({ name: 'T', mode: 'conversational', llm_id: llm.id });
  const key: Json = await must(api.post('/api-keys', { name: 'other', role: 'builder', owner: 'workspace' }));
  // Budgets count calls from two seconds after their creation on.
  await sleep(2_100);
  const proxies = await Promise.all([0, 1].map(() => cutting(fixture.databaseUrl!, cut)));
  await Promise.all([0, 1].map((i) => fixture.kill(i)));
  await Promise.all([0, 1].map((i) => fixture.start(i, { databaseUrl: proxies[i]!.url })));

  const apis = (value: string): Client[] =>
    fixture.replicas.map(({ port }) => client(`http://127.0.0.1:${port}/api/v2`, value));
  const principals = [apis(fixture.replicas[0]!.process!.key), apis(key.value)];
  /** Whatever is lost on the way is made once more: what there is counts. */
  const tried = <T>(call: Promise<T>): Promise<T | null> => call.catch(() => null);
  const mock = {
    steps: [
      { usage: { input: 50, output: 5 }, tool: 'current_time' },
      { text: 'Done.', usage: null },
    ],
  };
  const produce = async () => {
    for (let n = 0; !isDone; n++) {
      const [row] = await inspect((rows) =>
        rows<{ n: number }>(`select count(*)::integer as n from work_items where status = 'PENDING'`),
      );
      if (row!.n < 40) {
        const items = Array.from({ length: 40 }, (_, i) => ({
          agent_id: agents[i % 3].id,
          message: 'Go',
          payload: i % 3 === 2 ? { mock } : {},
        }));
        await tried(principals[n % 2]![(n >> 1) % 2]!.post('/work-items/bulk', { items }));
      }
      await sleep(100);
    }
  };
  const talk = async (i: number) => {
    while (!isDone) {
      const at = principals[i % 2]![i % 2]!;
      const path = `/agents/${talker.id}/conversations`;
      const made: Json = await tried(must(at.post(path, {})));
      if (made) await tried(at.post(`${path}/${made.id}/messages`, { content: 'Go' }));
      else await sleep(100);
    }
  };
  const working = [produce(), talk(0), talk(1)];
  for (let fault = 0; fault < faults; fault++) {
    const due = ((fault + 1) * calls) / (faults + 1);
    await until(() => sent.size >= due, 600_000);
    const i = fault % 2;
    if (fault % 3 === 2) {
      report.stops++;
      const { pid } = fixture.replicas[i]!.process!;
      process.kill(pid, 'SIGSTOP');
      await sleep(leaseSeconds * 1_000 + 1_500);
      process.kill(pid, 'SIGCONT');
    } else {
      report.kills++;
      await fixture.kill(i);
      await fixture.start(i);
    }
  }
  await until(() => sent.size >= calls, 600_000);
  isDone = true;
  await Promise.all(working);
  const open = `select (select count(*) from work_items where status in ('PENDING', 'EXECUTING'))
    + (select count(*) from conversation_runs where status in ('queued', 'running')) as n`;
  const isIdle = () => inspect(async (rows) => Number((await rows<{ n: number }>(open))[0]!.n) === 0);
  await until(isIdle, 120_000).catch(async () =>
    report.problems.push(`still open: ${JSON.stringify(await inspect((rows) => rows(open)))}`),
  );
  for (const proxy of proxies) proxy.decide = () => 'pass';
  // What could not be written is tried again within ten seconds; room of lost replicas is free after their lease.
  const reserved = () =>
    inspect(async (rows) =>
      Number((await rows<{ n: number }>('select sum(reserved) as n from budget_totals'))[0]!.n),
    );
  await until(async () => (await reserved()) === 0, 15_000).catch(async () =>
    report.problems.push(`${await reserved()} are reserved at the end`),
  );
  await inspect(async (rows) => {
    for (const { what, should, is } of await rows<{ what: string; should: string; is: string }>(comparisons))
      if (should !== is) report.problems.push(`${what}: ${should} by charges, ${is}`);
    const [counts] = await rows<{ charges: number; late: number; unknown: number; lost: number }>(`
      select count(*)::integer as charges, (count(*) filter (where late))::integer as late,
        (count(*) filter (where status = 'unknown_usage'))::integer as unknown,
        ((select count(*) from work_item_steps where kind = 'attempt' and error = 'lease_lost')
          + (select coalesce(sum(greatest(attempts - 1, 0)), 0) from conversation_runs))::integer as lost
      from charges`);
    Object.assign(report, counts);
    const charged = await rows<{ n: number; times: number }>(`
      select (input - ${base})::integer as n, count(*)::integer as times from charges where input >= ${base} group by 1`);
    for (const { n, times } of charged) {
      if (times > 1) report.problems.push(`reply ${n} is charged ${times} times`);
      if (!sent.has(n)) report.problems.push(`reply ${n} is charged, and was never sent`);
    }
    report.replies = sent.size;
    report.missing = sent.size - charged.length;
    if (report.missing > report.lost)
      report.problems.push(
        `${report.missing} replies have no charge, and ${report.lost} attempts lost their lease`,
      );
  });
  // The API shows the same sums, by each thing.
  for (const group of ['agent', 'api_key', 'llm_configuration', 'day']) {
    const costs: Json = await must(fixture.api().get(`/costs?group_by=${group}`));
    const sum = costs.groups.reduce((all: number, one: Json) => all + one.cost_nano_usd, 0);
    const [row] = await inspect((rows) =>
      rows<{ n: string }>('select coalesce(sum(amount_nano_usd), 0) as n from charges'),
    );
    if (sum !== Number(row!.n) || costs.total.calls !== report.charges)
      report.problems.push(
        `/costs by ${group}: ${sum} of ${costs.total.calls} calls, ${row!.n} of ${report.charges}`,
      );
  }
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  return report;
};
