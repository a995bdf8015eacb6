import { isHost } from '../resource/index.ts';
import { BrokerSteps } from './failures.ts';

/** A server of a broker, as settings name it. */
export interface Server {
  host: string;
  port: number;
}

/** Reads `host:port` or `[address]:port`; null if it is neither. */
export const parseServer = (text: string): Server | null => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || !isHost(host) || port < 1 || port > 65_535) return null;
  return { host, port };
};

/** The servers of checked settings. */
export const serversOf = (texts: readonly string[]): Server[] => texts.map((text) => parseServer(text)!);

/**
 * Resolves to what `use` does with the first of the servers of checked settings that can be used, each tried with its
 * share of the time. `passed` gets the steps of the one that is tried. Rejects with the failure of the last.
 */
export const withFirstServer = async <T>(
  texts: readonly string[],
  withinMs: number,
  passed: (steps: BrokerSteps) => void,
  use: (server: Server, steps: BrokerSteps) => Promise<T>,
): Promise<T> => {
  const deadline = Date.now() + withinMs;
  let last: unknown;
  const servers = serversOf(texts);
  for (const [i, server] of servers.entries()) {
    const steps = new BrokerSteps(Math.max(1, deadline - Date.now()) / (servers.length - i));
    passed(steps);
    try {
      return await use(server, steps);
    } catch (error) {
      last = error;
    }
  }
  throw last;
};
