import { z } from 'zod';
import { id, timestamp } from '../../http/index.ts';
import { endsAt, type Limits } from './lifetime.ts';
import type { ShownSession } from './store.ts';

export const session = z
  .object({
    id,
    user_id: z.string().nullable().describe('The person; null for a service account.'),
    key_id: z
      .string()
      .nullable()
      .describe('The API key that it was made with; `bootstrap` for the bootstrap key.'),
    method: z.enum(['oidc', 'api_key']),
    created_at: timestamp,
    last_seen_at: timestamp.describe('The last request, to within a minute.'),
    expires_at: timestamp.describe(
      'When it ends if no request comes, and at the latest; not after its API key.',
    ),
    ip: z.string().nullable().describe('The address that signed in.'),
    user_agent: z.string().nullable().describe('The browser that signed in.'),
    current: z.boolean().describe('Whether the request has this session.'),
  })
  .meta({ id: 'Session' });

const earlier = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one);

/** Returns a session as the API shows it to the session `currentId`. */
export const toSession = (row: ShownSession, limits: Limits, currentId: string | null) => ({
  ...row,
  key_id: row.key_id ?? (row.bootstrap_hash === null ? null : 'bootstrap'),
  expires_at: earlier(endsAt(row, limits), row.key_expires_at),
  current: row.id === currentId,
});
