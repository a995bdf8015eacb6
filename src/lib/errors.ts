/**
 * The table of error codes and the HTTP status that each is answered with (description, section 7).
 * A code stays what it is for ever: clients branch on it.
 */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  precondition_failed: 412,
  unprocessable_entity: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One fault in what a client sent: where (`payload.items[2]`) and what to write instead. */
export interface Fault {
  path: string;
  message: string;
}

/**
 * An error that a client is meant to see. `message` is shown as it is, so it never holds SQL, a path of
 * this machine or a secret; `context` is put beside it in the error body (`details`, `status`, `setting`).
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly context: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    context: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.context = context;
    this.headers = headers;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

export const badRequest = (message: string, context?: Record<string, unknown>) =>
  new ApiError('bad_request', message, context);

/** 404 for `what`, for example `schedule`. The same for a malformed id and for one that is someone else's. */
export const notFound = (what: string) => new ApiError('not_found', `The ${what} does not exist.`);

/** 422 with the list of faults, as every validation failure answers. */
export const unprocessable = (details: Fault[], context: Record<string, unknown> = {}) =>
  new ApiError('unprocessable_entity', details.map((d) => `${d.path}: ${d.message}`).join('; '), {
    ...context,
    details,
  });

export const unavailable = (message: string, retryAfterSeconds = 1) =>
  new ApiError('service_unavailable', message, {}, { 'retry-after': String(retryAfterSeconds) });

/**
 * The message of whatever was thrown, for logs. A connection that failed at every address of a name has none of
 * its own: then its code.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.message || ((error as { code?: string }).code ?? error.name);
};
