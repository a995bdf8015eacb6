/**
 * Reason why a job gave no result. The first four are found by the platform: the time limit, more memory than a child may
 * have, a result or an output that is too large, a child that ended without a result. The others are reported by the
 * job itself; its types say which.
 */
export type FailureReason =
  | 'time_limit'
  | 'memory'
  | 'too_large'
  | 'died'
  | 'unreadable'
  | 'encrypted'
  | 'unsupported'
  | 'too_many_pages'
  | 'query_failed'
  | 'not_permitted'
  | 'not_found'
  | 'invalid_column';

/** Reply of the child: one line of JSON. */
export type JobReply =
  | { output: unknown }
  | { failure: { reason: FailureReason; message: string; details?: Record<string, unknown> } };

/**
 * A job failed because of what it was given, or was stopped. `message` may quote the file or the statement that the job
 * read: it is for the one who gave it, never for the log.
 */
export class SandboxFailure extends Error {
  readonly reason: FailureReason;
  /** Details that the job adds, for example the names of the sheets that there are. */
  readonly details: Record<string, unknown>;

  constructor(reason: FailureReason, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'SandboxFailure';
    this.reason = reason;
    this.details = details;
  }
}
