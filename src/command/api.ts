import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure, type Sending, send } from './client.ts';
import type { Access } from './options.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON of the API, read field by field
export type Json = any;

/** The most that the API returns of a list at once. */
export const pageSize = 200;

/** Number of repetitions, 1 s apart, of a request that the platform cannot serve at the moment. */
const patience = 20;

/** No connection, too much to do, or a replica or proxy that is being replaced. */
const mayPass = (status: number | undefined): boolean =>
  status === undefined || [429, 502, 503, 504].includes(status);

/**
 * The API of the platform, as JSON. `patient`: reads are tried again while the platform is not there, other requests
 * after 429 and 503, which mean that nothing was done. Throws CommandFailure.
 */
export const apiOf = (access: Access, { patient }: { patient: boolean }) => {
  const ask = async (path: string, sending?: Sending): Promise<Json> => {
    for (let tries = 0; ; tries++) {
      try {
        const text = await send(access, path, sending);
        return text === '' ? null : JSON.parse(text);
      } catch (error) {
        if (!patient || tries === patience || !(error instanceof CommandFailure)) throw error;
        const { status } = error;
        if (sending ? status !== 429 && status !== 503 : !mayPass(status)) throw error;
        await sleep(1_000);
      }
    }
  };
  return {
    get: (path: string) => ask(`/api/v2${path}`),
    post: (path: string, body: object) => ask(`/api/v2${path}`, { body }),
    delete: (path: string) => ask(`/api/v2${path}`, { method: 'DELETE' }),
    app: (path: string) => ask(`/app/api${path}`),
  };
};
export type Api = ReturnType<typeof apiOf>;

/** Every item of a list with pages. `path` may have a query. */
export const listAll = async (api: Api, path: string): Promise<Json[]> => {
  const items: Json[] = [];
  const start = `${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}`;
  for (let next = ''; ; ) {
    const page = await api.get(next === '' ? start : `${start}&next=${encodeURIComponent(next)}`);
    items.push(...page.data);
    if (!page.has_more) return items;
    next = page.next;
  }
};
