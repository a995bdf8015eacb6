import { auditRefusal } from './audit/index.ts';
import type { Services } from './feature.ts';
import type { ServerOptions } from './http/index.ts';
import { messageOf } from './lib/errors.ts';

/** Writes each request that was refused for its role to the audit log; the response does not wait for it. */
export const auditRefusals =
  ({ db, log }: Services): NonNullable<ServerOptions['onRefused']> =>
  (actor, { operation, path }) => {
    db.tx((tx) => auditRefusal(tx, actor, operation, path)).catch((error) =>
      log.error({ error: messageOf(error) }, 'a refusal could not be written to the audit log'),
    );
  };
