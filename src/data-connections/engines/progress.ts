import { type StepResult as ResultOf, Steps } from '../../lib/steps.ts';
import { ConnectionFailure } from './failures.ts';

/** The steps of a connection test, in their order. */
export const stepNames = ['resolve', 'connect', 'tls', 'authenticate', 'read_only', 'query'] as const;
export type Step = (typeof stepNames)[number];

export type StepResult = ResultOf<Step>;

const doing: Record<Step, string> = {
  resolve: 'looking up the name of the host',
  connect: 'connecting',
  tls: 'negotiating TLS',
  authenticate: 'signing in',
  read_only: 'beginning a read-only transaction',
  query: 'waiting for the result of a query',
};

/** The steps of an attempt to use a database, and its time limit: then ConnectionFailure `unreachable`. */
export class Progress extends Steps<Step> {
  constructor(withinMs: number) {
    super(
      stepNames,
      withinMs,
      (step) => new ConnectionFailure('unreachable', `There was no response in time (${doing[step]}).`),
    );
  }
}
