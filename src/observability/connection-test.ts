import { connect } from 'node:net';
import { type Address, type Egress, EgressError, type EgressResponse } from '../lib/egress.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type Destination, outcomeOf, postSpans, sampleTrace } from '../telemetry/index.ts';
import { type RequestConfig, targetOf } from './provider.ts';
import type { ProviderSettings } from './settings.ts';

export const stepNames = ['url', 'name_lookup', 'connect', 'tls', 'authentication', 'sample_span'] as const;

interface Step {
  step: (typeof stepNames)[number];
  ok: boolean;
  /** For a person. Never a credential, nor the url, which may hold one. */
  detail: string;
}

export interface TestResult {
  ok: boolean;
  /** In order; the first that failed is the last. */
  steps: Step[];
}

/** All of it, in milliseconds: the answer comes within 5 s. */
const budgetMs = 4_500;

/** `promise`, or a failure at `deadline` that says `what` took so long. */
const within = <T>(promise: Promise<T>, deadline: number, what: string): Promise<T> =>
  withTimeout(
    promise,
    Math.max(0, deadline - Date.now()),
    () => new EgressError('timeout', `no answer in time (${what})`),
  );

/** Opens a TCP connection to one of `addresses` and closes it again, so that a closed port is told from a slow backend. */
const connectOnce = (url: URL, addresses: Address[], deadline: number): Promise<void> => {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = connect({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    autoSelectFamily: true,
    // Those that egress has permitted, and no other look-up.
    lookup: (_host, options, callback) =>
      options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
  });
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      reject(new EgressError('connect', `no connection (${error.code ?? 'no reason given'})`)),
    );
  });
  return within(connected, deadline, 'connecting').finally(() => socket.destroy());
};

/** Which step a request without an answer failed in. */
const failedStep = (error: EgressError): Step['step'] => {
  if (error.kind === 'denied' || error.kind === 'dns') return 'name_lookup';
  return error.kind === 'connect' || error.kind === 'tls' ? error.kind : 'sample_span';
};

/**
 * Tries an integration's settings for real, as delivery would: name look-up, connection, TLS, authentication
 * and one sample span (product, section 8). Never rejects for what the backend does.
 */
export const testConnection = async (
  egress: Egress,
  settings: ProviderSettings,
  requests: RequestConfig,
): Promise<TestResult> => {
  const deadline = Date.now() + budgetMs;
  const steps: Step[] = [];
  const passed = (step: Step['step'], detail: string) => void steps.push({ step, ok: true, detail });
  const failed = (step: Step['step'], detail: string): TestResult => ({
    ok: false,
    steps: [...steps, { step, ok: false, detail }],
  });

  const target = targetOf(settings, requests);
  if (target.problem !== undefined) return failed('url', target.problem);
  const url = new URL(target.url);
  const secure = url.protocol === 'https:';
  passed('url', `Spans go to ${url.origin}.`);

  let response: EgressResponse;
  const destination: Destination = {
    ...target,
    number: 0,
    id: '',
    provider: settings.provider,
    enabled: true,
    revision: 0,
  };
  try {
    const addresses = await within(egress.resolve(url.hostname), deadline, 'looking up the name').catch(
      (error: unknown) => {
        // Out of time is this step's failure here, and the sample span's below.
        throw error instanceof EgressError && error.kind === 'timeout'
          ? new EgressError('dns', error.message)
          : error;
      },
    );
    passed('name_lookup', `The host has the address ${addresses.map(({ address }) => address).join(', ')}.`);
    await connectOnce(url, addresses, deadline).catch((error: unknown) => {
      throw new EgressError('connect', (error as Error).message);
    });
    passed('connect', 'The host takes connections.');
    const body = sampleTrace(Date.now());
    const left = Math.max(1, deadline - Date.now());
    // A handshake that hangs is not ended by the request's own time limit.
    response = await within(postSpans(egress, destination, body, left), deadline, 'TLS and the answer');
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return failed(failedStep(error), `${error.message}.`);
  }
  if (secure) passed('tls', 'The certificate is trusted.');

  const { status } = response;
  if (status === 401 || status === 403 || status === 407) {
    return failed('authentication', `The backend answered ${status}: it refuses the credentials.`);
  }
  const outcome = outcomeOf(destination, response, 1, Date.now());
  if (outcome.kind !== 'accepted') return failed('sample_span', `${outcome.error}.`);
  passed('authentication', 'The backend takes the credentials.');
  if (outcome.rejected > 0)
    return failed('sample_span', `${outcome.error ?? 'The backend rejected the span'}.`);
  passed('sample_span', 'The backend took a span named "connection test".');
  return { ok: true, steps };
};
