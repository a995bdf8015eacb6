import { parseNoProxy, parseProxy, proxyFault, proxyFor, proxyVariable } from '../lib/outgoing-proxy.ts';
import { UsageError } from './options.ts';

type Fetch = typeof globalThis.fetch;

/** By address: a command has one, and its requests share connections. */
const made = new Map<string, Promise<Fetch>>();

/**
 * `fetch` for the platform at `url`, through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for it, as the
 * platform reads them. Rejects with UsageError.
 */
export const fetchFor = (url: string): Promise<Fetch> => {
  const known = made.get(url) ?? newFetch(url, process.env);
  made.set(url, known);
  return known;
};

const newFetch = async (url: string, env: NodeJS.ProcessEnv): Promise<Fetch> => {
  const target = new URL(url);
  const name = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const address = proxyVariable(env, name);
  if (address === undefined) return fetch;
  const proxy = parseProxy(address);
  if (!proxy) throw new UsageError(`${name} ${proxyFault}.`);
  const proxies = { http: proxy, https: proxy, none: parseNoProxy(proxyVariable(env, 'NO_PROXY') ?? '') };
  if (proxyFor(proxies, target) === null) return fetch;
  // Loaded only if it is needed: most commands need no proxy.
  const { createEgress } = await import('../lib/egress.ts');
  return createEgress({ deny: [], proxies }).fetch;
};
