/** A refusal of the platform, or a failure behind its address. */
export class ApiError extends Error {
  readonly status: number;
  /** `not_found`, `unprocessable_entity`, …; `unknown` if the response did not come from the platform. */
  readonly code: string;
  /** The platform's log and audit log name the request by it. */
  readonly errorId: string | undefined;
  /** Each fault of a 422, with its place in the request. */
  readonly details: { path: string; message: string }[];
  /** The whole body: some refusals say more, such as `run_id`. */
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    const details = (body.details ?? []) as { path: string; message: string }[];
    super(
      [
        `${status}: ${body.message ?? 'no message'}`,
        ...details.map(({ path, message }) => `${path}: ${message}`),
      ].join('\n'),
    );
    this.name = 'ApiError';
    this.status = status;
    this.code = String(body.code ?? 'unknown');
    this.errorId = body.error_id as string | undefined;
    this.details = details;
    this.body = body;
  }

  /** Reads the body of `response`, which need not be the platform's. */
  static async of(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => '');
    try {
      const parsed = JSON.parse(text);
      return new ApiError(response.status, parsed.error ?? parsed);
    } catch {
      return new ApiError(response.status, { message: text.slice(0, 200) || response.statusText });
    }
  }
}
