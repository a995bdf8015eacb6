import { reach, reachStepOf, untilDeadline } from '../lib/connect-once.ts';
import { type Egress, EgressError, type EgressResponse } from '../lib/egress.ts';
import { type Destination, outcomeOf, postSpans, sampleTrace } from '../telemetry/index.ts';
import { type RequestConfig, targetOf } from './provider.ts';
import type { ProviderSettings } from './settings.ts';

export const stepNames = [
  'url',
  'name_lookup',
  'proxy',
  'connect',
  'tls',
  'authentication',
  'sample_span',
] as const;

interface Step {
  step: (typeof stepNames)[number];
  ok: boolean;
  /** For a person. It contains no credential, and not the url, which may contain one. */
  detail: string;
}

export interface TestResult {
  ok: boolean;
  /** In order; the first that failed is the last. */
  steps: Step[];
}

/** The time for all steps, in milliseconds: the response is sent within 5 s. */
const budgetMs = 4_500;

/** Returns the step in which a request without a response failed. */
const failedStep = (error: EgressError): Step['step'] => {
  const step = reachStepOf(error);
  if (step !== undefined) return step === 'lookup' ? 'name_lookup' : step;
  return error.kind === 'tls' ? error.kind : 'sample_span';
};

/**
 * Tests an integration's settings as delivery uses them: name look-up, proxy, connection, TLS, authentication and one sample
 * span. Never rejects because of what the backend does.
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
    // A proxy that accepts connections may still refuse the request.
    steps: [...steps.filter((one) => one.step !== step), { step, ok: false, detail }],
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
    await reach(egress, url, deadline, (step, detail) =>
      passed(step === 'lookup' ? 'name_lookup' : step, detail),
    );
    const body = sampleTrace(Date.now(), requests.resource);
    const left = Math.max(1, deadline - Date.now());
    // The time limit of the request does not end a TLS handshake that hangs.
    response = await untilDeadline(
      postSpans(egress, destination, body, left),
      deadline,
      'TLS and the response',
    );
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return failed(failedStep(error), `${error.message}.`);
  }
  if (secure) passed('tls', 'The certificate is trusted.');

  const { status } = response;
  if (status === 401 || status === 403 || status === 407) {
    return failed('authentication', `The backend returned ${status}: it refuses the credentials.`);
  }
  const outcome = outcomeOf(destination, response, 1, Date.now());
  if (outcome.kind !== 'accepted') return failed('sample_span', `${outcome.error}.`);
  passed('authentication', 'The backend accepts the credentials.');
  if (outcome.rejected > 0)
    return failed('sample_span', `${outcome.error ?? 'The backend rejected the span'}.`);
  passed('sample_span', 'The backend accepted a span named "connection test".');
  return { ok: true, steps };
};
