import { setTimeout as sleep } from 'node:timers/promises';
import { client } from '../../tests/harness/http.ts';
import { execute, startPostgres } from '../../tests/harness/postgres.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { percentile } from '../console/client.ts';
import { body, ms } from '../data/rig.ts';

const charges = Number(process.env.MONEY_CHARGES ?? 1_000_000);
const days = 400;
const reads = 20;

/** The charges of `days` days, each of one of 50 agents, 12 models and 20 schedules. */
const filled = `insert into charges (id, started_at, duration_ms, purpose, status, agent_id, agent_version, schedule_id,
    principal_kind, principal_id, llm_id, requested_model, model, input, output, amount_nano_usd)
  select gen_random_uuid(), now() - make_interval(secs => n * (${days} * 86400.0 / ${charges})), 700, 'run', 'priced',
    ('0000000a-0000-7000-8000-' || lpad((n % 50)::text, 12, '0'))::uuid, 1,
    ('0000000b-0000-7000-8000-' || lpad((n % 20)::text, 12, '0'))::uuid, 'system', 'scheduler',
    ('0000000c-0000-7000-8000-' || lpad((n % 3)::text, 12, '0'))::uuid, 'm', 'model-' || n % 12, 900, 100, 1000000 + n % 997
  from generate_series(1, ${charges}) n`;

/** Measures reads of sums over many charges. The control is a small answer of the same platform. */
export const measureSums = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  const databaseUrl = await postgres.createDatabase();
  await using platform = await spawnPlatform({ databaseUrl, env: { LOG_LEVEL: 'warn' } });
  await execute(databaseUrl, filled);
  await execute(databaseUrl, 'vacuum analyze charges');
  const measure = async (what: string, goal: string, base: string, path: string, pauseMs = 0) => {
    const api = client(`${platform.url}${base}`, platform.key);
    const took: number[] = [];
    for (let i = 0; i < reads; i++) {
      await sleep(pauseMs);
      const begun = performance.now();
      await body(api.get(path));
      took.push(performance.now() - begun);
    }
    return { what, goal, here: `p50 ${ms(percentile(took, 0.5))}, p95 ${ms(percentile(took, 0.95))}` };
  };
  console.table([
    await measure('the control: GET /prices', '', '/api/v2', '/prices'),
    await measure('/costs of 30 days by agent', 'p95 300 ms', '/api/v2', '/costs?group_by=agent'),
    await measure('/costs of 30 days by day, model', 'p95 300 ms', '/api/v2', '/costs?group_by=day,model'),
    // It is kept for two seconds.
    await measure('the Overview', 'p95 50 ms', '/app/api', '/overview', 2_100),
    await measure('/charges', '', '/api/v2', '/charges'),
  ]);
};
