import type { Access } from './options.ts';
import { fetchFor } from './proxy.ts';
import type { ShownChange } from './show.ts';

interface FailureParts {
  details?: readonly { path: string; message: string }[];
  /** The plan of now, if the workspace is not what was planned. */
  plan?: Plan | undefined;
  /** The publication that a gate did not let pass. */
  publication?: { id: string } | undefined;
  /** Status of the response; undefined if there was none. */
  status?: number;
}

/** A failure as the command reports it: what is wrong, and where. */
export class CommandFailure extends Error {
  readonly details: NonNullable<FailureParts['details']>;
  readonly plan: FailureParts['plan'];
  readonly publication: FailureParts['publication'];
  readonly status: number | undefined;

  constructor(message: string, { details = [], plan, publication, status }: FailureParts = {}) {
    super(message);
    this.details = details;
    this.plan = plan;
    this.publication = publication;
    this.status = status;
  }
}

export interface Plan {
  fingerprint: string;
  changes: ShownChange[];
  secrets_needed: string[];
  /** Absent from releases before it. `scope` null: no scope is enough. */
  missing_scopes?: { kind: string; scope: string | null }[];
}

interface ErrorBody {
  error?: { message?: string; details?: { path: string; message: string }[] } & Pick<
    FailureParts,
    'plan' | 'publication'
  >;
}

const hints: Record<number, string> = {
  401: 'The API key is not accepted: ',
  403: 'The API key may not do this: ',
};

const failureOf = (status: number, text: string): CommandFailure => {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    // Something else than the platform responded.
  }
  const { message, details: given = [], plan, publication } = body.error ?? {};
  if (message === undefined)
    return new CommandFailure(`The address responded with ${status}, not as Agent Platform does.`);
  const details = given.map((one) => ({ ...one, path: one.path.replace(/^document\./, '') }));
  const isDocument = given.some(({ path }) => path.startsWith('document'));
  const said = isDocument ? 'The document has faults:' : message;
  return new CommandFailure((hints[status] ?? '') + said, { details, plan, publication, status });
};

/** A request: POST with a JSON body if there is one, else GET, unless it is a DELETE. */
export interface Sending {
  method?: 'DELETE';
  body?: object;
}

/** Sends a request to `path` of the platform and returns the text of its response. Throws CommandFailure. */
export const send = async (
  { url, key }: Access,
  path: string,
  { method, body }: Sending = {},
): Promise<string> => {
  const init = body
    ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    : { headers: {} };
  const fetch = await fetchFor(url);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}${path}`, {
      ...init,
      ...(method ? { method } : {}),
      redirect: 'manual',
      headers: { ...init.headers, authorization: `Bearer ${key}` },
    });
    text = await response.text();
  } catch (error) {
    const { code, name, message } = ((error as Error).cause ?? {}) as Partial<Error> & { code?: string };
    const reason = name === 'EgressError' ? message : code;
    throw new CommandFailure(`No connection to ${new URL(url).origin}${reason ? ` (${reason})` : ''}.`);
  }
  if (!response.ok) throw failureOf(response.status, text);
  return text;
};

export const exportWorkspace = (access: Access, format: 'yaml' | 'json'): Promise<string> =>
  send(access, `/app/api/workspace?format=${format}`);

export const planWorkspace = async (access: Access, body: object): Promise<Plan> =>
  JSON.parse(await send(access, '/app/api/workspace/plan', { body })) as Plan;

export const applyWorkspace = async (access: Access, body: object): Promise<ShownChange[]> =>
  (JSON.parse(await send(access, '/app/api/workspace/apply', { body })) as Plan).changes;
