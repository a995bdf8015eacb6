import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setDatabaseClock } from '../harness/database-clock.ts';
import { completion, startEndpoint } from '../harness/llm-endpoint.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { execute, type Postgres, startPostgres } from '../harness/postgres.ts';
import { spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { type DatabaseKind, databases, dump, folderOf, write } from './archive.ts';
import { clientsOf, must } from './clients.ts';
import { configure, leaveInFlight, pickyBackend, placeholders, work } from './fill.ts';
import { readEverything } from './responses.ts';

/**
 * Makes the fixtures of a release: `node tests/upgrade/make.ts FOLDER`, the folder in which that release is installed.
 * README.md says when.
 */
const release = resolve(process.argv[2] ?? '.');
const { version } = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8'));
const minute = 60_000;

const make = async (kind: DatabaseKind, postgres: Postgres | null): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ap-upgrade-'));
  await using receiver = await startOtlpReceiver();
  await using model = await startEndpoint(() => ({
    body: completion({ content: 'Done by the house model.' }),
  }));
  const databaseUrl = await postgres?.createDatabase();
  const start = () =>
    spawnPlatform({
      release,
      dataDir,
      ...(databaseUrl ? { databaseUrl } : {}),
      env: { LOG_LEVEL: 'warn', ...placeholders(receiver.port) },
    });
  const setClock = (offsetMs: number) =>
    setDatabaseClock(postgres?.dataDir ?? join(dataDir, 'database'), offsetMs, postgres?.pid ?? null);
  pickyBackend(receiver);

  // Five hours ago by the database: what is due until now is caught up or missed at the next start.
  let platform = await spawnPlatform({ release, dataDir, ...(databaseUrl ? { databaseUrl } : {}) });
  await platform.kill('SIGTERM');
  await setClock(-5 * 60 * minute);
  platform = await start();
  const facts = await configure(clientsOf(platform.url), model.url);
  facts.backendPort = receiver.port;
  await platform.kill('SIGTERM');
  await setClock(0);
  platform = await start();
  const overdue = async () =>
    Number(
      (await (await fetch(`${platform.url}/metrics`)).text()).match(
        /^agent_platform_schedules_overdue (\d+)/m,
      )![1],
    );
  const { api, app } = clientsOf(platform.url);
  const often = facts.schedules.often!;
  await until(
    async () =>
      (await must(app.get(`/agents/${often.agent}/schedules/${often.id}/occurrences`))).data.length > 0,
  );
  await until(async () => (await overdue()) === 0);
  await work(platform, receiver, facts);
  await until(
    async () =>
      !(await must(api.get('/work-items?limit=200'))).records.some(
        ({ status }: { status: string }) => status === 'EXECUTING',
      ),
  );
  // No tool of 0.1.0 leads to this state, but its API knows it.
  if (databaseUrl)
    await execute(
      databaseUrl,
      `update work_items set status = 'INDETERMINATE' where work_item_name = 'indeterminate'`,
    );
  await leaveInFlight(platform, receiver, facts);
  // The chain is made within a second, and the counters are reported every second.
  await new Promise((done) => setTimeout(done, 1_500));
  const responses = await readEverything(clientsOf(platform.url));
  facts.endedAt = Date.now();
  await platform.kill('SIGKILL');

  const executing = responses.bodies[`/api/v2/work-items/${facts.workItems.executing}`] as { status: string };
  if (executing.status !== 'EXECUTING') throw new Error('the slow Work Item ended too early: try again');
  write(
    version,
    kind,
    dataDir,
    { facts, responses },
    databaseUrl ? await dump(databaseUrl, release) : undefined,
  );
  rmSync(dataDir, { recursive: true });
  console.log(`${folderOf(version, kind)}: ${Object.keys(responses.bodies).length} responses`);
};

for (const kind of databases) {
  await using postgres = kind === 'postgres' ? await startPostgres() : null;
  await make(kind, postgres);
}
process.exit(0);
