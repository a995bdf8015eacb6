// biome-ignore-all lint/suspicious/noExplicitAny: responses of several releases, field by field
import { expect } from 'vitest';
import { type Clients, must } from './clients.ts';

/** Bodies of GET requests by their paths, `/api/v2/…` and `/app/api/…`, and the ETags of those that have one. */
export interface Responses {
  bodies: Record<string, unknown>;
  etags: Record<string, string>;
}

const query = '?limit=200';

/** Reads everything that 0.1.0 can show, list by list and thing by thing. The audit log comes last: reads are audited. */
export const readEverything = async ({ api, app }: Clients): Promise<Responses> => {
  const responses: Responses = { bodies: {}, etags: {} };
  const get = async (path: string, from: 'api' | 'app' = 'api') => {
    const response = await (from === 'api' ? api : app).get(path);
    const key = (from === 'api' ? '/api/v2' : '/app/api') + path;
    responses.bodies[key] = await must(Promise.resolve(response));
    const etag = response.headers.get('etag');
    if (etag) responses.etags[key] = etag;
    return response.body;
  };
  const each = async (path: string, list: string, then: (path: string) => Promise<void> = async () => {}) => {
    const body = await get(path + query);
    for (const { id } of Array.isArray(body) ? body : body[list]) {
      await get(`${path}/${id}`);
      await then(`${path}/${id}`);
    }
  };

  await each('/agents', 'data', async (agent) => {
    if (responses.bodies[`/api/v2${agent}`] && (await api.get(`${agent}/schedules`)).status !== 200) return;
    await each(`${agent}/schedules`, 'data', async (schedule) => {
      await get(`${schedule}/occurrences${query}`, 'app');
    });
  });
  // A page of a list that a client goes on with after the upgrade.
  const { next } = await get('/agents?limit=2');
  await get(`/agents?limit=2&next=${encodeURIComponent(next)}`);
  await each('/work-items', 'records', async (item) => {
    for (const part of ['events', 'messages']) await get(`${item}/${part}${query}`);
    await get(`${item}/trace`);
  });
  await each('/llm-configurations', 'data');
  await get('/llm-configurations/defaults');
  await each('/api-keys', 'data');
  await get('/advanced-settings');
  await each('/observability/integrations', 'data', async (integration) => {
    await get(`${integration}/scopes`);
    await get(`${integration}/health`);
    await get(`${integration}/dead-letters${query}`, 'app');
  });
  await get('/audits/verify');
  await get(`/audits${query}`);
  return responses;
};

/** Reads the same paths again. A path that is not 200 any more has its status and body as its value. */
export const readAgain = async ({ api, app }: Clients, paths: readonly string[]): Promise<Responses> => {
  const responses: Responses = { bodies: {}, etags: {} };
  for (const path of paths) {
    const response = path.startsWith('/api/v2')
      ? await api.get(path.slice('/api/v2'.length))
      : await app.get(path.slice('/app/api'.length));
    responses.bodies[path] =
      response.status === 200 ? response.body : { status: response.status, body: response.body };
    const etag = response.headers.get('etag');
    if (etag) responses.etags[path] = etag;
  }
  return responses;
};

/** What of `body`, read before a restart, stays the same whatever the release: the rest moves on by itself. */
export const lasting = (path: string, body: any): any => {
  if (path.endsWith('/health')) {
    const { delivered, rejected, dead_lettered, expired, discarded, queued, state, last_success_at } = body;
    return { delivered, rejected, dead_lettered, expired, discarded, queued, state, last_success_at };
  }
  // The log grows, and what was new in it is chained later.
  if (path === '/api/v2/audits/verify') return { ok: true, broken_at: null };
  if (!path.startsWith('/api/v2/audits')) return body;
  const chained = body.data.filter(({ position }: any) => position !== null);
  const hasAll = (entries: any[]) => {
    const now = new Map(entries.map((entry) => [entry.id, entry]));
    for (const entry of chained) expect(now.get(entry.id)).toMatchObject(entry);
    return true;
  };
  return { data: expect.toSatisfy(hasAll) };
};
