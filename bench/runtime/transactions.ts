import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { startPlatform } from '../../src/platform.ts';
import { type Client, client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { startToolServer } from '../../tests/harness/tool-server.ts';
import { until } from '../../tests/harness/wait.ts';

const key = 'key-of-the-benchmark-0123456789abcdef';
/** Work Items of each kind, and the steps with a tool call of the longer ones. */
const items = 20;
const steps = 10;

interface Counters {
  commits: number;
  statements: number;
}

/** Carries out Work Items with `count` calls of `tool`, each in a step of its own, one Work Item after the other. */
const carryOut = async (api: Client, agentId: string, tool: string, count: number): Promise<void> => {
  const calls = Array.from({ length: count }, () => ({ tool, args: {} }));
  const payload = { mock: { steps: [...calls, { text: 'Done.' }] } };
  for (let n = 0; n < items; n++) {
    const { body } = await api.post('/work-items', { agent_id: agentId, message: 'Count.', payload });
    await until(
      async () => (await api.get(`/work-items/${body.id}`)).body.status === 'COMPLETED',
      10_000,
      50,
    );
  }
};

/**
 * What a step with one tool call costs the database, counted at the driver: the difference between Work Items with
 * `steps` of them and Work Items without.
 */
export const measureTransactions = async (postgres: Postgres): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-bench-'));
  await using toolServer = await startToolServer({
    tools: [{ name: 'unsafe' }, { name: 'safe', annotations: { idempotentHint: true } }],
  });
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: await postgres.createDatabase(),
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_API_KEY: key,
    ROLES: 'api,worker,delivery',
  });
  const platform = await startPlatform(config, { log: silentLogger });
  const counters: Counters = { commits: 0, statements: 0 };
  // Not reads: how often this client polls depends on the duration.
  platform.db.onStatement(({ text }) => {
    if (text === 'commit') counters.commits++;
    else if (/^\s*(with|insert|update|delete)\b/.test(text)) counters.statements++;
  });
  const api = client(`${platform.url}/api/v2`, key);
  const server = await api.post('/tool-servers', {
    name: 'Bench',
    url: toolServer.url,
    default_policy: 'allow',
  });
  const agent = await api.post('/agents', {
    name: 'Bench',
    mode: 'worker',
    instructions: '',
    tool_server_ids: [server.body.id],
  });
  const measure = async (tool: string, count: number): Promise<Counters> => {
    const before = { ...counters };
    await carryOut(api, agent.body.id, tool, count);
    return {
      commits: counters.commits - before.commits,
      statements: counters.statements - before.statements,
    };
  };
  const rows = [];
  for (const [what, tool] of [
    ['built-in', 'current_time'],
    ['of a tool server, idempotent', 'bench__safe'],
    ['of a tool server, not idempotent', 'bench__unsafe'],
  ] as const) {
    const without = await measure(tool, 0);
    const longer = await measure(tool, steps);
    const perStep = (name: keyof Counters): string =>
      ((longer[name] - without[name]) / (items * steps)).toFixed(2);
    rows.push({
      tool: what,
      'transactions of a step': perStep('commits'),
      'writing statements of a step': perStep('statements'),
      'transactions of a Work Item without tools': (without.commits / items).toFixed(1),
    });
  }
  await platform.stop();
  await rm(dataDir, { recursive: true, force: true });
  console.log('A step with one tool call (goal: 3 transactions)');
  console.table(rows);
};
