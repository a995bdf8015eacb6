import { z } from 'zod';
import { id, optional, pageQuery, stepsOf, text, timestamp } from '../http/index.ts';
import { required } from '../resource/index.ts';
import { stepNames } from './connection-test.ts';
import { providers, secretPaths, settingsInput, settingsOutput } from './settings.ts';
import { integrations } from './store.ts';

const { description, version: shownVersion, ...shown } = integrations.shown;

export const integration = z
  .object({
    id,
    kind: z.literal('observability'),
    settings: settingsOutput.describe('The settings of the provider, credentials included.'),
    resolved_url: z
      .string()
      .nullable()
      .describe('The url with its placeholders replaced; null if that is impossible.'),
    description,
    version: shownVersion,
    ...shown,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicObservabilityIntegration' });

const { version } = integrations.fields;
const { is_system: _, ...changed } = integrations.patch;

export const createBody = z
  .object({
    settings: settingsInput,
    ...integrations.create,
    version: version.schema,
  })
  .meta({ id: 'CreateObservabilityIntegrationBody' });

export const putBody = z
  .object({
    settings: settingsInput
      .optional()
      .describe('Replaces all settings. If `is_enabled` is left out, it stays as it is.'),
    ...changed,
  })
  .meta({ id: 'UpdateObservabilityIntegrationBody' });

const { description: named, debug, is_system } = integrations.fields;

/**
 * Integrations in a workspace document, with their fields in its order. A description is required there, because it is
 * the name; a version can be null.
 */
export const form = {
  fields: { description: named, version, debug, is_system, settings: required(z.unknown()) },
  body: createBody.extend({ version: version.schema.nullable(), description: text(10_000, 1) }),
  patch: putBody,
  defaults: { is_system: false, settings: { is_enabled: true } },
  secrets: secretPaths.map((path) => `settings.${path}`),
};

export const patchBody = z
  .object({
    is_enabled: z.boolean().optional().describe('Whether telemetry is exported.'),
    debug: changed.debug,
  })
  .meta({ id: 'PatchObservabilityIntegrationBody' });

export const listQuery = z.object({
  provider: z.enum(providers).optional(),
  agent_id: z.string().optional().describe('Only integrations that are global or assigned to this agent.'),
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
  .discriminatedUnion('scope', [
    z.object({ scope: z.literal('global') }),
    z.object({ scope: z.literal('agent'), agent_id: id }),
  ])
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
    steps: stepsOf(stepNames),
  })
  .meta({ id: 'ObservabilityTestResult' });

const spans = z.int().describe('A number of spans.');

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
  .describe('The replica that holds the dead letter, a dot, and the id there.');
const replica_id = z.string().describe('The replica that sent the response. The other fields are about it.');
const on_other_replicas = z
  .int()
  .describe('How many dead letters of the integration the other replicas hold, as they last reported.');

/** A replica accepts only the `next` of its own pages. */
export const deadLetterQuery = z.object({
  limit: pageQuery.shape.limit,
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

export const deadLetterIds = z.object({
  ids: optional(z.array(letterId).min(1).max(100)).describe(
    'At most 100 ids. If left out, all dead letters.',
  ),
});

export const deadLetterPage = z
  .object({
    data: z.array(
      z
        .object({
          id: letterId,
          at: timestamp.describe('When the backend refused the span.'),
          status: z.int().describe('The HTTP status of the backend.'),
          reason: z.string(),
          bytes: z.int().describe('The size of the request with the span, in bytes.'),
        })
        .meta({ id: 'DeadLetter' }),
    ),
    has_more: z.boolean(),
    next: z.string(),
    replica_id,
    on_other_replicas,
    total: z.int().describe('The number of dead letters of the integration on all replicas.'),
  })
  .meta({ id: 'DeadLetterPage' });

export const retryResult = z
  .object({
    delivered: spans,
    failed: z.int().describe('How many were refused again or do not exist any more.'),
    untried: z
      .int()
      .describe('How many were not sent, because the backend accepts nothing at present or 20 s were over.'),
    replica_id,
    on_other_replicas,
  })
  .meta({ id: 'DeadLetterRetry' });

export const purgeResult = z
  .object({ discarded: spans, replica_id, on_other_replicas })
  .meta({ id: 'DeadLetterPurge' });
