/**
 * The error codes and the HTTP status of each. A code never changes: clients branch on it.
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

/** One fault in a request: its path (`payload.items[2]`) and what to write instead. */
export interface Fault {
  path: string;
  message: string;
}

/**
 * An error that a client sees. `message` is shown as it is, so it must not contain SQL, a path of this machine or a
 * secret. `context` is added to the error body (`details`, `status`, `setting`).
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

/** 400 with `message`. */
export const badRequest = (message: string, context?: Record<string, unknown>) =>
  new ApiError('bad_request', message, context);

/**
 * 404 for `what`, for example `schedule`. The same error for an unknown id, a malformed one, and one of someone else.
 */
export const notFound = (what: string) => new ApiError('not_found', `The ${what} does not exist.`);

/** 422 with the list of faults in `details`, like every validation failure. */
export const unprocessable = (details: Fault[], context: Record<string, unknown> = {}) =>
  new ApiError('unprocessable_entity', details.map((d) => `${d.path}: ${d.message}`).join('; '), {
    ...context,
    details,
  });

/** 503 with `Retry-After`. */
export const unavailable = (message: string, retryAfterSeconds = 1) =>
  new ApiError('service_unavailable', message, {}, { 'retry-after': String(retryAfterSeconds) });

/**
 * The message of a thrown value, for logs. The error of a connection that failed at every address of a name has no
 * message: its code instead.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.message || ((error as { code?: string }).code ?? error.name);
};
