import { setTimeout as sleep } from 'node:timers/promises';
import { completion, startEndpoint } from '../../../harness/llm-endpoint.ts';
import { until } from '../../../harness/wait.ts';
import { must, newLlm } from '../fixture.ts';
import { forever } from '../workloads.ts';
import { anyReplica, brief, ended, type Json, persist, type StartLoad } from './load.ts';

/** The prompt of call n has so many tokens more than n: each reply is recognized in its charge. */
const base = 1_000;
const limits = { limited: 60_000_000, free: 9e15 };

/**
 * Work Items call a model over HTTP, some under a budget that they use up. No budget is passed, no reply is charged twice, and
 * every cost that a response named is there at the end.
 */
export const startBudgets: StartLoad = async (fixture) => {
  const sent = new Set<number>();
  const endpoint = await startEndpoint(async (_, n) => {
    await sleep(Math.random() * 200);
    sent.add(n);
    const usage = { prompt_tokens: base + n, completion_tokens: 7, total_tokens: base + n + 7 };
    return { body: { ...completion({ content: 'Done.' }), usage } };
  });
  const api = fixture.api();
  const llm = await newLlm(api, endpoint.url, { max_output_tokens: 100 });
  await must(api.post('/prices', { model: 'm', rates: { input: '3', output: '15' } }));
  const agents: Json[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const agent = await must(
      api.post('/agents', {
        name,
        mode: 'worker',
        llm_id: llm.id,
        settings: { max_attempts: 100, max_concurrency: 10 },
      }),
    );
    agents.push(agent);
    await must(
      api.post('/budgets', {
        name,
        scope: { kind: 'agent', id: agent.id },
        unit: 'nano_usd',
        limit,
        period: 'total',
        action: 'refuse',
      }),
    );
  }
  // Budgets count calls from two seconds after their creation on.
  await sleep(2_100);
  const problems: string[] = [];
  const items = new Set<string>();
  /** The costs of finished Work Items, as a response named them. */
  const costs = new Map<string, number>();
  let made = 0;
  const load = forever(2, 100, async () => {
    const agent = agents[made++ % agents.length];
    const item = await persist(fixture, (one, headers) =>
      one.post('/work-items', { agent_id: agent.id, message: 'Go' }, { headers, ...brief() }),
    );
    if (item.refused) return void problems.push(`a Work Item with a budget: ${item.refused}`);
    items.add(item.id);
    for (let n = 0; n < 5; n++) {
      await sleep(150);
      const now = await fixture
        .api(anyReplica(fixture))
        .get(`/work-items/${item.id}`, brief())
        .catch(() => null);
      if (now?.body?.status !== 'COMPLETED') continue;
      costs.set(item.id, now.body.cost_nano_usd);
      break;
    }
  });
  const report: Record<string, unknown> = {};
  const ofAgents = () => `agent_id in (${agents.map(({ id }) => `'${id}'`).join(', ')})`;
  return {
    stop: () => load.stop(),
    problems: async (rows) => {
      report.budgetRuns = await ended(rows, ofAgents());
      const totals = () =>
        rows<{
          name: string;
          spent: number;
          reserved: number;
          allowed: number;
          overrun: number;
          charged: number;
        }>(
          `select b.name, t.spent::float8 as spent, t.reserved::float8 as reserved, p.overrun::float8 as overrun,
            (b."limit" + p.extra + p.overrun)::float8 as allowed,
            (select coalesce(sum(coalesce(c.amount_nano_usd, c.assumed_nano_usd, 0)), 0)::float8 from charges c
              where c.agent_id = (b.scope ->> 'id')::uuid) as charged
          from budgets b join budget_periods p on p.budget_id = b.id join budget_totals t on t.period_id = p.id`,
        );
      // Room of lost replicas is free after their lease.
      await until(async () => (await totals()).every(({ reserved }) => reserved === 0), 30_000, 100).catch(
        async () => problems.push(`reserved at the end: ${JSON.stringify(await totals())}`),
      );
      for (const { name, spent, allowed, overrun, charged } of await totals()) {
        if (spent > allowed) problems.push(`the budget ${name} is passed: ${spent} of ${allowed}`);
        if (spent !== charged) problems.push(`the budget ${name}: ${spent} spent, ${charged} charged`);
        report[`${name}Spent`] = spent;
        if (overrun > 0) report[`${name}Overrun`] = overrun;
      }
      const stored = await rows<{ id: string; cost: number; charged: number }>(
        `select w.id, w.cost_nano_usd::float8 as cost,
          (select coalesce(sum(c.amount_nano_usd), 0)::float8 from charges c where c.work_item_id = w.id) as charged
        from work_items w where ${ofAgents()}`,
      );
      const byId = new Map(stored.map((row) => [row.id, row]));
      for (const { id, cost, charged } of stored)
        if (cost !== charged) problems.push(`the Work Item ${id} costs ${cost}, its charges ${charged}`);
      for (const [id, cost] of costs)
        if (byId.get(id)?.cost !== cost) problems.push(`${id} cost ${cost}, and costs ${byId.get(id)?.cost}`);
      for (const id of items) if (!byId.has(id)) problems.push(`the Work Item ${id} with a charge is lost`);
      const charged = await rows<{ n: number; times: number }>(
        `select (input - ${base})::int as n, count(*)::int as times from charges where requested_model = 'm' group by 1`,
      );
      for (const { n, times } of charged) {
        if (times > 1) problems.push(`reply ${n} is charged ${times} times`);
        if (n >= 0 && !sent.has(n)) problems.push(`reply ${n} is charged, and was never sent`);
      }
      const [{ lost }] = (await rows<{ lost: number }>(
        `select count(*)::int as lost from work_item_steps s join work_items w on w.id = s.work_item_id
           where s.kind = 'attempt' and s.error = 'lease_lost' and w.${ofAgents()}`,
      )) as [{ lost: number }];
      const missing = sent.size - charged.filter(({ n }) => n >= 0).length;
      if (missing > lost)
        problems.push(`${missing} replies have no charge, and ${lost} attempts lost their lease`);
      Object.assign(report, {
        replies: sent.size,
        charges: charged.length,
        uncharged: missing,
        namedCosts: costs.size,
      });
      return problems;
    },
    figures: () => report,
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
};
