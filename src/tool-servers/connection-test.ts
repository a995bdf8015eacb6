import { reach } from '../lib/connect-once.ts';
import type { Egress } from '../lib/egress.ts';
import { type ConnectionFailure, type ConnectionStep, connectionFailureOf } from './client/failures.ts';
import type { DiscoveryResult } from './discovery.ts';
import type { OpenedToolServer } from './settings.ts';

interface TestStep {
  step: ConnectionStep;
  ok: boolean;
  detail: string;
}

export interface ToolServerTest {
  ok: boolean;
  /** In order; the first that failed is the last. */
  steps: TestStep[];
  protocol_version: string | null;
  latency_ms: number;
}

/** The time for all steps, in milliseconds: the response is sent within 10 s. */
const budgetMs = 8_000;

const order: readonly ConnectionStep[] = [
  'resolve',
  'proxy',
  'connect',
  'authenticate',
  'negotiate',
  'list_tools',
];

/** Looks up the name of the server and connects to it once, so that these steps have a result of their own. */
const reachServer = async (
  egress: Egress,
  { settings }: OpenedToolServer,
  deadline: number,
): Promise<Partial<Record<ConnectionStep, string>>> => {
  if (settings.transport === 'stdio') return {};
  const reached: Partial<Record<ConnectionStep, string>> = {};
  await reach(egress, new URL(settings.url), deadline, (step, detail) => {
    reached[step === 'lookup' ? 'resolve' : step] = detail;
  });
  return reached;
};

const passedDetails = (
  { settings }: OpenedToolServer,
  result: DiscoveryResult | null,
): Record<Exclude<ConnectionStep, 'proxy'>, string> => {
  const local = settings.transport === 'stdio';
  const warnings = (result?.warnings ?? []).map((warning) => ` ${warning}`).join('');
  return {
    resolve: local ? 'The server is a local process.' : 'The name was found.',
    connect: local ? 'The process has started.' : 'The host accepts connections.',
    authenticate: local
      ? 'A local process needs no credentials.'
      : 'The server does not refuse the credentials.',
    negotiate: `The server speaks the protocol ${result?.protocolVersion ?? 'of its choice'}.`,
    list_tools: `The server has ${result?.tools ?? 0} tools.${warnings}`,
  };
};

/**
 * Tests a server as agents use it: name, connection, credentials, protocol and tools. `discover` gets the time that is
 * left, in milliseconds, and discovers the tools. Never rejects because of what the server does.
 */
export const testToolServer = async (
  egress: Egress,
  server: OpenedToolServer,
  discover: (withinMs: number) => Promise<DiscoveryResult>,
): Promise<ToolServerTest> => {
  const begun = performance.now();
  const deadline = Date.now() + budgetMs;
  let reached: Partial<Record<ConnectionStep, string>> = {};
  let unreachable: ConnectionFailure | null = null;
  try {
    reached = await reachServer(egress, server, deadline);
  } catch (error) {
    unreachable = connectionFailureOf(error, 'negotiate');
  }
  // A server that cannot be reached is discovered as well, so that its state says so.
  const result = await discover(Math.max(1, deadline - Date.now()));
  const failure = unreachable ?? result.failure;
  const details = { ...passedDetails(server, result), ...reached };
  const failed = failure === null ? order.length : order.indexOf(failure.step);
  const steps = order.slice(0, failed).flatMap((step) => {
    // Without a proxy there is no such step.
    const detail = step === 'proxy' ? reached.proxy : details[step];
    return detail === undefined ? [] : [{ step, ok: true, detail }];
  });
  if (failure) steps.push({ step: failure.step, ok: false, detail: failure.message });
  return {
    ok: failure === null,
    steps,
    protocol_version: failure === null ? result.protocolVersion : null,
    latency_ms: Math.round(performance.now() - begun),
  };
};
