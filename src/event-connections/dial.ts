import type { Socket } from 'node:net';
import { type Address, type Egress, EgressError } from '../lib/egress.ts';
import { codeOf, connectTo } from '../lib/foreign-socket.ts';
import { BrokerFailure, type BrokerSteps } from './failures.ts';
import type { Server } from './servers.ts';

/** Resolves to the permitted addresses of a host. Rejects with BrokerFailure `denied` or `unreachable`. */
export const resolveHost = (egress: Pick<Egress, 'resolve'>, host: string): Promise<Address[]> =>
  egress.resolve(host).catch((error: unknown) => {
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === 'denied') {
      throw new BrokerFailure(
        'denied',
        `The address of ${host} is not permitted (EGRESS_DENY, EGRESS_ALLOW).`,
        'resolve',
      );
    }
    throw new BrokerFailure('unreachable', `The name ${host} was not found.`, 'resolve');
  });

/** Connects to the first of these addresses that accepts, each tried with its share of the time. */
export const connectToAny = async (
  { host, port }: Server,
  addresses: readonly Address[],
  withinMs: number,
): Promise<{ socket: Socket; address: Address }> => {
  let code = 'no response in time';
  const deadline = Date.now() + withinMs;
  for (const [i, address] of addresses.entries()) {
    const left = Math.max(1, deadline - Date.now());
    try {
      return { socket: await connectTo(address, port, left / (addresses.length - i)), address };
    } catch (error) {
      if ((error as { code?: string }).code !== undefined) code = codeOf(error);
    }
  }
  throw new BrokerFailure('unreachable', `${host}:${port} does not accept connections (${code}).`, 'connect');
};

/** Looks the host of a server up, and connects to a permitted address of it. */
export const dial = async (
  server: Server,
  egress: Pick<Egress, 'resolve'>,
  steps: BrokerSteps,
): Promise<Socket> => {
  steps.begin('resolve');
  const addresses = await steps.within(resolveHost(egress, server.host));
  steps.passed(`${server.host} has the address ${addresses.map(({ address }) => address).join(', ')}.`);
  steps.begin('connect');
  const { socket } = await connectToAny(server, addresses, steps.msLeft);
  steps.passed(`${server.host}:${server.port} accepts connections.`);
  return socket;
};
