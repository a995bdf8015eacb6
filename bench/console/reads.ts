import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, percentile } from './client.ts';
import type { Seeded } from './seed.ts';

interface Read {
  what: string;
  path: string;
  /** The 95th percentile that is wanted, in milliseconds. */
  goalMs: number;
  /** Between two requests, so that what the platform keeps for a while is computed again. */
  pauseMs?: number;
}

const hour = 3_600_000;
const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());

const readsOf = ({ agent, schedule, workItem }: Seeded): Read[] => {
  const now = Date.now();
  const timeline = `/app/api/schedules/timeline?from=${iso(now - 12 * hour)}&to=${iso(now + 12 * hour)}&buckets=96&limit=100`;
  const lists: Record<string, string> = {
    'schedules by next run': '/app/api/schedules?limit=50',
    'schedules by last run': '/app/api/schedules?limit=50&sort=last',
    'schedules by name': '/app/api/schedules?limit=50&sort=name',
    'schedules by text': '/app/api/schedules?limit=50&q=report%2099',
    'schedules of an agent': `/app/api/schedules?limit=50&agent_id=${agent}`,
    'schedules paused': '/app/api/schedules?limit=50&state=paused',
    'schedules last skipped': '/app/api/schedules?limit=50&outcome=skipped',
    'occurrences of a schedule': `/app/api/agents/${agent}/schedules/${schedule}/occurrences?limit=50`,
    'Work Items': '/app/api/work-items?limit=50',
    'Work Items with counts': '/app/api/work-items?limit=50&counts=1',
    'Work Items in ERROR': '/app/api/work-items?limit=50&status=ERROR',
    'Work Items with an error code': '/app/api/work-items?limit=50&error_code=timeout',
    'Work Items open': '/app/api/work-items?limit=50&status=PENDING&status=EXECUTING',
    'Work Items of an agent': `/app/api/work-items?limit=50&agent_id=${agent}`,
    'Work Items of a schedule': `/app/api/work-items?limit=50&schedule_id=${schedule}`,
    'Work Items made by schedules': '/app/api/work-items?limit=50&source=schedule',
    'Work Items by name': '/app/api/work-items?limit=50&q=report%20777777',
    'Work Items of a day': `/app/api/work-items?limit=50&created_from=${iso(now - 48 * hour)}&created_to=${iso(now - 24 * hour)}`,
    'Work Items by end': '/app/api/work-items?limit=50&sort=finished',
    'Work Items by duration': '/app/api/work-items?limit=50&sort=duration',
    'Work Items newer': `/app/api/work-items/newer?than=${workItem}`,
    'a Work Item': `/app/api/work-items/${workItem}`,
    agents: '/app/api/agents?limit=50',
    'an agent': `/app/api/agents/${agent}/overview`,
    integrations: '/app/api/integrations',
    search: '/app/api/search?q=report',
    status: '/app/api/status',
    me: '/app/api/me',
    audits: '/app/api/audits?limit=50',
  };
  return [
    { what: 'overview, computed', path: '/app/api/overview?hours=24', goalMs: 30, pauseMs: 2_100 },
    { what: 'overview', path: '/app/api/overview?hours=24', goalMs: 30 },
    { what: 'timeline of 100 rows', path: timeline, goalMs: 100 },
    ...Object.entries(lists).map(([what, path]) => ({ what, path, goalMs: 50 })),
  ];
};

/** Whether the document describes a GET of `path`. */
const describes = (document: { paths: Record<string, object> }, path: string): boolean =>
  Object.entries(document.paths).some(
    ([template, methods]) =>
      'get' in methods &&
      new RegExp(`^/app/api${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0]!),
  );

/**
 * How long each read of the application takes, one request at a time with its round trip and the parsing of the cookie.
 * What the API does not have is left out and named.
 */
export const measureReads = async (client: Client, seeded: Seeded): Promise<void> => {
  const document = JSON.parse((await client.get('/app/api')).text);
  const rows = [];
  const missing = [];
  for (const { what, path, goalMs, pauseMs = 0 } of readsOf(seeded)) {
    if (!describes(document, path)) {
      missing.push(what);
      continue;
    }
    const requests = pauseMs > 0 ? 20 : 200;
    for (let i = 0; i < 5; i++) await client.get(path);
    const took: number[] = [];
    let last = await client.get(path);
    for (let i = 0; i < requests && last.status === 200; i++) {
      await sleep(pauseMs);
      last = await client.get(path);
      took.push(last.ms);
    }
    rows.push({
      what,
      status: last.status,
      bytes: last.bytes,
      'p50 ms': percentile(took, 0.5).toFixed(1),
      'p95 ms': percentile(took, 0.95).toFixed(1),
      'max ms': Math.max(...took).toFixed(1),
      'goal ms': goalMs,
      met: percentile(took, 0.95) <= goalMs,
    });
  }
  console.table(rows);
  if (missing.length > 0) console.log(`The API does not have: ${missing.join(', ')}.`);
};
