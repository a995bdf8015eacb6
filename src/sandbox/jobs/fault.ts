import type { FailureReason } from '../failure.ts';

/** Fault of a job whose input cannot be used. */
export class JobFault extends Error {
  readonly reason: FailureReason;
  readonly details: Record<string, unknown> | undefined;

  constructor(reason: FailureReason, message: string, details?: Record<string, unknown>) {
    super(message);
    this.reason = reason;
    this.details = details;
  }
}
