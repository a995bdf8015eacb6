import { reach } from '../lib/connect-once.ts';
import type { Egress, EgressError } from '../lib/egress.ts';
import { Steps } from '../lib/steps.ts';

/** The steps of a test of a channel, in their order. */
export const stepNames = [
  'resolve',
  'connect',
  'tls',
  'authenticate',
  'scopes',
  'socket',
  'message',
] as const;
export type StepName = (typeof stepNames)[number];

/** The time for all steps, in milliseconds: a person waits for the response. */
const withinMs = 9_000;

const doing: Record<StepName, string> = {
  resolve: 'looking up the name of the host',
  connect: 'connecting',
  tls: 'negotiating TLS',
  authenticate: 'signing in',
  scopes: 'asking for the scopes',
  socket: 'opening the socket',
  message: 'sending the message',
};

/** A step of a test failed. The message is for a person, and has no secret. */
export class TestFailure extends Error {
  /** Null: the step that was in progress. */
  readonly step: StepName | null;
  constructor(message: string, step: StepName | null = null) {
    super(message);
    this.name = 'TestFailure';
    this.step = step;
  }
}

export class TestSteps extends Steps<StepName> {
  constructor() {
    super(
      stepNames,
      withinMs,
      (step) => new TestFailure(`There was no response in time (${doing[step]}).`, step),
    );
  }
}

/** Returns the failure of a request or connection as one of a test. */
export const testFailureOf = (error: EgressError, afterConnecting: StepName): TestFailure => {
  const step = (
    { denied: 'resolve', dns: 'resolve', proxy: 'connect', connect: 'connect', tls: 'tls' } as const
  )[error.kind as 'denied'];
  return new TestFailure(`${error.message}.`, step ?? afterConnecting);
};

/** Looks the host of `url` up and connects to it once: the steps `resolve` and `connect`. */
export const reachInSteps = async (
  egress: Pick<Egress, 'route'>,
  url: URL,
  steps: TestSteps,
): Promise<void> => {
  steps.begin('resolve');
  await reach(egress, url, steps.deadline, (step, detail) => {
    steps.begin(step === 'lookup' ? 'resolve' : 'connect');
    // A proxy and what it connects to are one step.
    if (step !== 'proxy' || url.protocol === 'http:') steps.passed(detail);
    steps.begin('connect');
  });
};
