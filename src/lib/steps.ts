import { withTimeout } from './with-timeout.ts';

export interface StepResult<S extends string = string> {
  step: S;
  ok: boolean;
  /** For a person. It has no secret, and nothing that the server wrote. */
  detail: string;
}

/** The steps of an attempt to use a foreign server, and its time limit. */
export class Steps<S extends string> {
  readonly steps: StepResult<S>[] = [];
  /** In milliseconds since 1970. */
  readonly deadline: number;
  readonly #names: readonly S[];
  readonly #toError: (doing: S) => Error;
  #current: S;

  /** `names` in their order. `toError` makes the error of a step for which there was no time left. */
  constructor(names: readonly S[], withinMs: number, toError: (doing: S) => Error) {
    this.deadline = Date.now() + withinMs;
    this.#names = names;
    this.#toError = toError;
    this.#current = names[0]!;
  }

  get msLeft(): number {
    return Math.max(1, this.deadline - Date.now());
  }

  begin(step: S): void {
    this.#current = step;
  }

  /** The step that was begun last has succeeded. */
  passed(detail: string): void {
    this.steps.push({ step: this.#current, ok: true, detail });
  }

  /** The steps that passed before the one that failed, and that one. `step` null: the one in progress. */
  failed({ step, message }: { step: S | null; message: string }): StepResult<S>[] {
    const failed = step ?? this.#current;
    const at = (one: S) => this.#names.indexOf(one);
    const before = this.steps.filter((one) => at(one.step) < at(failed));
    return [...before, { step: failed, ok: false, detail: message }];
  }

  /** Settles as `promise` does, or rejects with the error of the step in progress when the time is over. */
  within<T>(promise: Promise<T>): Promise<T> {
    return withTimeout(promise, this.msLeft, () => this.#toError(this.#current));
  }
}
