import type { Client } from '../../harness/http.ts';
import { until } from '../../harness/wait.ts';
import { type Fixture, must } from './fixture.ts';

const minute = 60_000;

/** All items of a list, page after page. `path` already has a query. */
export const pages = async <T>(api: Client, path: string): Promise<T[]> => {
  const all: T[] = [];
  for (let next = ''; ; ) {
    const page = await must(api.get(next === '' ? path : `${path}&next=${next}`));
    all.push(...(page.data as unknown as T[]));
    if (!page.has_more) return all;
    next = page.next!;
  }
};

/**
 * Whether no schedule is due any more. On the embedded database this comes from the API, for the schedules of every
 * Worker agent.
 */
export const nothingDue = async (fixture: Fixture): Promise<boolean> => {
  if (fixture.databaseUrl) {
    return fixture.inspect(async (rows) => {
      const due = await rows('select 1 from schedules where next_run_at <= platform_now() limit 1');
      return due.length === 0;
    });
  }
  const agents = await pages<{ id: string; mode: string }>(fixture.api(), '/agents?limit=200');
  for (const { id } of agents.filter(({ mode }) => mode === 'worker')) {
    const schedules = await pages<{ next_run_at: string }>(fixture.api(), `/agents/${id}/schedules?`);
    if (schedules.some(({ next_run_at }) => Date.parse(next_run_at) <= fixture.now())) return false;
  }
  return true;
};

/**
 * Moves the clock into the minute after the latest that it has shown, and waits until everything that is due then is
 * handled. Resolves to the beginning of that minute plus one millisecond.
 */
export const lastMinute = async (fixture: Fixture): Promise<number> => {
  const begin = (Math.floor(fixture.latest() / minute) + 1) * minute + 1;
  await fixture.moveClock(begin - fixture.now());
  if (fixture.databaseUrl) await fixture.wake();
  else {
    await fixture.kill();
    await fixture.start();
  }
  await until(() => nothingDue(fixture), 60_000, 50);
  return begin;
};
