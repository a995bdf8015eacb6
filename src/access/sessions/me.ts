import { z } from 'zod';
import { findBranding, shownBranding } from '../../branding/index.ts';
import type { Executor } from '../../database/index.ts';
import {
  type Principal,
  type RequiredRole,
  roleAllows,
  roles,
  type Scope,
  scopesAllow,
} from '../../lib/principal.ts';
import { version } from '../../lib/version.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { publicUser, toUserResponse } from '../people/index.ts';
import { findUser } from '../people/store.ts';
import { session, toSession } from './schemas.ts';
import { findSession } from './store.ts';

/** The permission of an operation. */
interface Operation {
  id: string;
  role: RequiredRole;
  scope: Scope | null;
}

/** The sources of `GET /me` besides the principal: what the application needs at its start. */
export interface MeParts {
  settings: CurrentSettings;
  publicUrl: () => string;
  allowStdioToolServers: boolean;
  /** The permissions of all operations. */
  operations: () => readonly Operation[];
  workItems: {
    /** Resolves to the number of Work Items that wait for a person. */
    countReviews(executor: Executor): Promise<number>;
  };
  alerts: {
    /** Resolves to the number of alerts that fire and that no one has acknowledged. */
    countOpen(executor: Executor, isAdmin: boolean): Promise<number>;
  };
}

export const me = z
  .object({
    principal: z.object({
      kind: z.enum(['service_account', 'person']),
      id: z.string(),
      name: z.string(),
      role: z.enum(roles),
    }),
    user: publicUser.nullable().describe('The person; null for a service account.'),
    session: session.nullable().describe('Null for a request with an API key.'),
    key_id: z
      .string()
      .nullable()
      .describe(
        'The API key of the request, or that the session was made with; `bootstrap` for the bootstrap key.',
      ),
    operations: z.array(z.string()).describe('The operationIds that you may call, by your role and scopes.'),
    review_count: z
      .int()
      .nullable()
      .describe(
        'How many Work Items wait for a person, at most 1,000; null without the scope `work_items:read`.',
      ),
    firing_alerts: z
      .int()
      .nullable()
      .describe('How many alerts fire that no one has acknowledged; null without the scope `alerts:read`.'),
    base_url: z.string().describe('The address of the API.'),
    otlp_url: z.string().describe('Where traces are sent (OTLP over HTTP).'),
    version: z.string().describe('The version of the platform.'),
    branding: shownBranding,
    limits: z
      .object({
        max_work_item_payload_size_in_kb: z.int(),
        max_schedules_per_agent: z.int(),
        schedule_misfire_grace_seconds: z.int(),
        max_api_key_days: z.int().describe('0: keys may never expire.'),
        max_file_size_in_mb: z.int(),
        extraction_retention_hours: z.int().describe('How long the result of an extraction is kept.'),
        stdio_tool_servers: z.boolean().describe('Whether tool servers may be commands of this machine.'),
      })
      .meta({ id: 'Limits' })
      .describe('The limits that forms show.'),
  })
  .meta({ id: 'Me' });

/** Returns what `GET /me` says of `principal`. */
export const findMe = async (
  executor: Executor,
  { kind, id, name, role, keyId, scopes, sessionId }: Principal,
  parts: MeParts,
) => {
  const limits = parts.settings.get();
  const base = `${parts.publicUrl()}/api/v2`;
  const user = kind === 'person' ? await findUser(executor, id) : undefined;
  const found = sessionId === null ? undefined : await findSession(executor, sessionId, limits);
  return {
    principal: { kind: kind as 'service_account' | 'person', id, name, role },
    user: user ? toUserResponse(user) : null,
    session: found ? toSession(found, limits, sessionId) : null,
    key_id: keyId,
    operations: parts
      .operations()
      .filter((operation) => operation.role === 'anyone' || roleAllows(role, operation.role))
      .filter((operation) => scopesAllow(scopes, operation.scope))
      .map((operation) => operation.id),
    review_count: scopesAllow(scopes, 'work_items:read')
      ? await parts.workItems.countReviews(executor)
      : null,
    firing_alerts: scopesAllow(scopes, 'alerts:read')
      ? await parts.alerts.countOpen(executor, roleAllows(role, 'admin'))
      : null,
    base_url: base,
    otlp_url: `${base}/telemetry/v1/traces`,
    version,
    branding: await findBranding(executor),
    limits: {
      max_work_item_payload_size_in_kb: limits.MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB,
      max_schedules_per_agent: limits.MAX_SCHEDULES_PER_AGENT,
      schedule_misfire_grace_seconds: limits.SCHEDULE_MISFIRE_GRACE_SECONDS,
      max_api_key_days: limits.MAX_API_KEY_DAYS,
      max_file_size_in_mb: limits.MAX_FILE_SIZE_IN_MB,
      extraction_retention_hours: limits.EXTRACTION_RETENTION_HOURS,
      stdio_tool_servers: parts.allowStdioToolServers,
    },
  };
};
