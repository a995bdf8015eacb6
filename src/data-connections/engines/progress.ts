import { withTimeout } from '../../lib/with-timeout.ts';
import { ConnectionFailure } from './failures.ts';

/** The steps of a connection test, in their order. */
export const stepNames = ['resolve', 'connect', 'tls', 'authenticate', 'read_only', 'query'] as const;
export type Step = (typeof stepNames)[number];

export interface StepResult {
  step: Step;
  ok: boolean;
  /** For a person. It has no secret, and nothing that the server wrote. */
  detail: string;
}

const doing: Record<Step, string> = {
  resolve: 'looking up the name of the host',
  connect: 'connecting',
  tls: 'negotiating TLS',
  authenticate: 'signing in',
  read_only: 'beginning a read-only transaction',
  query: 'waiting for the result of a query',
};

/** The steps of an attempt to use a database, and its time limit. */
export class Progress {
  readonly steps: StepResult[] = [];
  /** In milliseconds since 1970. */
  readonly deadline: number;
  #current: Step = 'resolve';

  constructor(withinMs: number) {
    this.deadline = Date.now() + withinMs;
  }

  get msLeft(): number {
    return Math.max(1, this.deadline - Date.now());
  }

  begin(step: Step): void {
    this.#current = step;
  }

  /** The step that was begun last has succeeded. */
  passed(detail: string): void {
    this.steps.push({ step: this.#current, ok: true, detail });
  }

  /** The steps that passed before the one that failed, and that one. */
  failed({ step, message }: ConnectionFailure): StepResult[] {
    const failed = step ?? this.#current;
    const before = this.steps.filter((one) => stepNames.indexOf(one.step) < stepNames.indexOf(failed));
    return [...before, { step: failed, ok: false, detail: message }];
  }

  /** Settles as `promise` does, or rejects with ConnectionFailure `unreachable` when the time is over. */
  within<T>(promise: Promise<T>): Promise<T> {
    return withTimeout(
      promise,
      this.msLeft,
      () => new ConnectionFailure('unreachable', `There was no response in time (${doing[this.#current]}).`),
    );
  }
}
