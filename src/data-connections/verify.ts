import type { ServerInfo, Session } from './engines/engine.ts';
import { ConnectionFailure, QueryFailure } from './engines/failures.ts';
import type { OpenSession } from './engines/index.ts';
import { Progress, type StepResult } from './engines/progress.ts';
import type { ConnectionSettings } from './engines/settings.ts';
import type { Warning } from './engines/values.ts';

export interface Verification {
  ok: boolean;
  /** In order; the first that failed is the last. */
  steps: StepResult[];
  server: ServerInfo | null;
  /** Null unless the privileges could be read. */
  writable: boolean | null;
  warnings: Warning[];
  latency_ms: number;
  failure: ConnectionFailure | null;
}

/** The time for all steps, in milliseconds: a person waits for the response. */
const withinMs = 9_500;

const writableWarning: Warning = {
  code: 'writable_credentials',
  message:
    'The user may change data. The platform only reads; give it a user who may only read (REQUIRE_READ_ONLY_CREDENTIALS).',
};

const asFailure = (error: unknown): ConnectionFailure => {
  if (error instanceof ConnectionFailure) return error;
  if (error instanceof QueryFailure) return new ConnectionFailure('unreachable', error.message);
  throw error;
};

interface Outcome {
  server: ServerInfo | null;
  writable: boolean | null;
}

const checkReadOnly = async (
  session: Session,
  progress: Progress,
  outcome: Outcome,
  requireReadOnly: boolean,
): Promise<void> => {
  progress.begin('read_only');
  if (!(await progress.within(session.isReadOnly()))) {
    throw new ConnectionFailure('unreachable', 'The server does not keep transactions read-only.');
  }
  outcome.writable = await progress.within(session.isWritable());
  if (outcome.writable && requireReadOnly) {
    throw new ConnectionFailure(
      'denied',
      'The user may change data, and REQUIRE_READ_ONLY_CREDENTIALS refuses such users.',
    );
  }
  progress.passed(
    outcome.writable
      ? 'Transactions are read-only, but the user may change data.'
      : 'Transactions are read-only, and the user may not change data.',
  );
};

/**
 * Tries what queries will do, in steps, on a session of its own. Never rejects because of what the server does.
 * `requireReadOnly`: a user who may change data fails the step `read_only`.
 */
export const verify = async (
  open: OpenSession,
  settings: ConnectionSettings,
  requireReadOnly: boolean,
): Promise<Verification> => {
  const begun = performance.now();
  const progress = new Progress(withinMs);
  const outcome: Outcome = { server: null, writable: null };
  let failure: ConnectionFailure | null = null;
  let session: Session | undefined;
  try {
    session = await open(settings, progress);
    outcome.server = session.server;
    await checkReadOnly(session, progress, outcome, requireReadOnly);
    progress.begin('query');
    const one = { sql: 'select 1', parameters: [], limit: 1, timeoutMs: progress.msLeft };
    await progress.within(session.read(one));
    progress.passed('The server returned the result of a query.');
  } catch (error) {
    failure = asFailure(error);
  } finally {
    session?.close();
  }
  return {
    ok: failure === null,
    steps: failure ? progress.failed(failure) : progress.steps,
    ...outcome,
    warnings: outcome.writable ? [writableWarning] : [],
    latency_ms: Math.round(performance.now() - begun),
    failure,
  };
};
