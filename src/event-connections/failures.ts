import { Steps } from '../lib/steps.ts';

/** The steps of a connection test, in their order. */
export const stepNames = ['resolve', 'connect', 'tls', 'authenticate', 'version', 'list'] as const;
export type Step = (typeof stepNames)[number];

export const brokerReasons = [
  'unreachable',
  'authentication',
  'tls',
  'denied',
  'unsupported',
  'refused',
] as const;
export type BrokerReason = (typeof brokerReasons)[number];

/**
 * A broker cannot be used. The message is for a person: it has no secret, and nothing that the broker wrote, because it
 * may repeat what it was sent.
 */
export class BrokerFailure extends Error {
  readonly reason: BrokerReason;
  /** The step that failed; null: the one that was in progress. */
  readonly step: Step | null;
  constructor(reason: BrokerReason, message: string, step: Step | null = null) {
    super(message);
    this.name = 'BrokerFailure';
    this.reason = reason;
    this.step = step;
  }
}

const doing: Record<Step, string> = {
  resolve: 'looking up the name of the host',
  connect: 'connecting',
  tls: 'negotiating TLS',
  authenticate: 'signing in',
  version: 'asking for the version',
  list: 'listing what is there',
};

/** The steps of an attempt to use a broker: BrokerFailure `unreachable` when their time is over. */
export class BrokerSteps extends Steps<Step> {
  constructor(withinMs: number) {
    super(
      stepNames,
      withinMs,
      (step) => new BrokerFailure('unreachable', `There was no response in time (${doing[step]}).`, step),
    );
  }
}
