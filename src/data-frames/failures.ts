import { SqlRefusal } from '@agent-platform/sql';
import { unprocessable } from '../lib/errors.ts';
import { SandboxFailure } from '../sandbox/index.ts';

const readReasons: Record<string, string> = {
  time_limit: 'time_limit',
  memory: 'too_large',
  too_large: 'too_large',
  encrypted: 'encrypted',
  unsupported: 'unsupported',
};

/** The 422 for a file that cannot be read into a frame. */
export const readFailure = (error: unknown): unknown => {
  if (!(error instanceof SandboxFailure)) return error;
  const { reason, message, details } = error;
  if (reason === 'not_found') {
    const sheets = (details.sheets as string[]).slice(0, 100);
    return unprocessable([{ path: 'source.sheet', message: `${message}; there are: ${sheets.join(', ')}` }], {
      sheets,
    });
  }
  if (reason === 'invalid_column') {
    return unprocessable([{ path: `source.columns.${details.column}`, message }]);
  }
  return unprocessable([{ path: 'source.file_id', message }], {
    reason: readReasons[reason] ?? 'unreadable',
  });
};

/** The 422 for a query over frames that is refused or fails. `path` is where the statement stands in the body. */
export const queryFailure = (error: unknown, path: string): unknown => {
  if (error instanceof SqlRefusal) {
    const { details, message } = error;
    return unprocessable([{ path, message }], { ...details });
  }
  if (!(error instanceof SandboxFailure)) return error;
  const { reason, message } = error;
  return unprocessable([{ path, message }], { reason: reason === 'time_limit' ? 'timeout' : 'query_failed' });
};
