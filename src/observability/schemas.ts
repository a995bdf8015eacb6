import { z } from 'zod';
import { id, optional, pageQuery, text, timestamp } from '../http/index.ts';
import { stepNames } from './connection-test.ts';
import { providers, settingsInput, settingsOutput } from './settings.ts';

export const integration = z
  .object({
    id,
    kind: z.literal('observability'),
    settings: settingsOutput.describe('Provider settings, credentials included.'),
    resolved_url: z
      .string()
      .nullable()
      .describe('The url with its placeholders replaced; null where that is impossible.'),
    description: z.string().nullable(),
    version: z.string().nullable(),
    is_system: z.boolean().describe('The deployment manages it rather than a user.'),
    debug: z.boolean().describe('It also receives application and infrastructure traces.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicObservabilityIntegration' });

const version = text(200, 1).describe('Version of the configuration.');
const description = text(10_000);
const debug = z.boolean().describe('Send it application and infrastructure traces as well.');

export const createBody = z
  .object({
    settings: settingsInput,
    version,
    description: optional(description),
    is_system: optional(z.boolean(), false),
    debug: optional(debug, false),
  })
  .meta({ id: 'CreateObservabilityIntegrationBody' });

export const putBody = z
  .object({
    settings: settingsInput
      .optional()
      .describe('Replaces the settings whole; without `is_enabled` that stays as it is.'),
    version: version.nullable().optional().describe('null clears it.'),
    description: description.nullable().optional().describe('null clears it.'),
    debug: debug.optional(),
  })
  .meta({ id: 'UpdateObservabilityIntegrationBody' });

export const patchBody = z
  .object({
    is_enabled: z.boolean().optional().describe('Whether telemetry is exported.'),
    debug: debug.optional(),
  })
  .meta({ id: 'PatchObservabilityIntegrationBody' });

export const listQuery = z.object({
  provider: z.enum(providers).optional(),
  agent_id: z.string().optional().describe('The global ones and those assigned to this agent.'),
});

export const scope = z
  .object({
    integration_id: id,
    scope: z.enum(['global', 'agent']),
    agent_id: id.nullable().describe('null for the global scope.'),
    created_at: timestamp,
  })
  .meta({ id: 'ObservabilityScope' });

export const scopeBody = z
  .discriminatedUnion(
    'scope',
    [z.object({ scope: z.literal('global') }), z.object({ scope: z.literal('agent'), agent_id: id })],
    { error: (issue) => (issue.code === 'invalid_union' ? 'must be global or agent' : 'expected an object') },
  )
  .meta({ id: 'CreateObservabilityScopeBody' });

export const scopeQuery = z
  .object({
    scope: z.enum(['global', 'agent']),
    agent_id: z.string().optional().describe('Required for the scope `agent`.'),
  })
  .superRefine((query, context) => {
    if (query.scope === 'agent' && query.agent_id === undefined) {
      context.addIssue({ code: 'custom', path: ['agent_id'], message: 'is required' });
    }
  });

export const testBody = z.object({ settings: settingsInput }).meta({ id: 'TestObservabilitySettingsBody' });

export const testResult = z
  .object({
    ok: z.boolean(),
    steps: z
      .array(z.object({ step: z.enum(stepNames), ok: z.boolean(), detail: z.string() }))
      .describe('In order; the first that failed is the last.'),
  })
  .meta({ id: 'ObservabilityTestResult' });

const spans = z.int().describe('In spans.');

export const health = z
  .object({
    state: z.enum(['delivering', 'retrying', 'paused', 'disabled']),
    delivered: spans,
    rejected: spans,
    dead_lettered: spans,
    expired: spans,
    discarded: spans,
    queued: spans,
    backlog_bytes: z.int(),
    backlog_age_seconds: z.number(),
    last_success_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: 'ObservabilityHealth' });

const letterId = z
  .string()
  .regex(/^[0-9a-fA-F-]{36}\.\d{16}$/, 'is not the id of a dead letter')
  .describe('The replica that holds it, and its id there.');
const replica_id = z.string().describe('The replica that answers, and that the other fields are about.');
const on_other_replicas = z
  .int()
  .describe('How many dead letters of the integration the other replicas last said that they hold.');

/** A replica takes only the `next` of its own pages. */
export const deadLetterQuery = z.object({
  limit: pageQuery.shape.limit,
  next: z.string().optional().describe('The `next` of the page before, as it was given.'),
});

export const deadLetterIds = z.object({
  ids: optional(z.array(letterId).min(1).max(100)).describe('At most 100; left out: all.'),
});

export const deadLetterPage = z
  .object({
    data: z.array(
      z
        .object({
          id: letterId,
          at: timestamp.describe('When it was refused.'),
          status: z.int().describe('The HTTP status that the backend answered.'),
          reason: z.string(),
          bytes: z.int().describe('Size of the span’s request.'),
        })
        .meta({ id: 'DeadLetter' }),
    ),
    has_more: z.boolean(),
    next: z.string(),
    replica_id,
    on_other_replicas,
  })
  .meta({ id: 'DeadLetterPage' });

export const retryResult = z
  .object({
    delivered: spans,
    failed: z.int().describe('Refused again, or gone.'),
    untried: z.int().describe('Not sent: the backend takes nothing at present, or 20 s were over.'),
    replica_id,
    on_other_replicas,
  })
  .meta({ id: 'DeadLetterRetry' });

export const purgeResult = z
  .object({ discarded: spans, replica_id, on_other_replicas })
  .meta({ id: 'DeadLetterPurge' });
