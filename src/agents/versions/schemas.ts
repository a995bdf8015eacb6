import { z } from 'zod';
import { givenTime, id, optional, text, timestamp } from '../../http/index.ts';
import { agents } from '../store.ts';

const number = z.int().min(1).max(2_000_000_000);

/** Fields of an agent that no version has. */
const {
  name: _name,
  description: _description,
  mode: _mode,
  callbacks: _callbacks,
  release: _release,
  gate: _gate,
  ...fields
} = agents.shown;

const content = z
  .object({ ...fields, settings: fields.settings.omit({ max_concurrency: true }) })
  .meta({ id: 'AgentContent' });

const version = {
  number: z.int(),
  state: z
    .enum(['published', 'canary', 'retired', 'tested'])
    .describe('`retired`: it was published before. `tested`: it never was.'),
  content_hash: z.string().describe('The SHA-256 of its canonical content (RFC 8785), in hex.'),
  first_run: z
    .object({
      at: timestamp,
      llms: z.array(z.object({ llm_id: id, revision: z.int(), model: z.string() })),
      tools: z.array(z.object({ tool_name: z.string(), definition_hash: z.string().nullable() })),
    })
    .meta({ id: 'FirstRun' })
    .nullable()
    .describe('The models and tools of its first attempt; null before.'),
  published_at: timestamp.nullable().describe('When it was last published; null if it never was.'),
  created_by: z.string().nullable().describe('Null if a replica of an earlier release made it.'),
  created_at: timestamp,
};

export const publicVersion = z.object(version).meta({ id: 'PublicAgentVersion' });

export const versionWithContent = z
  .object({
    ...version,
    number: z.int().nullable().describe('Null for the draft.'),
    state: z.enum(['published', 'canary', 'retired', 'tested', 'draft']),
    created_at: timestamp.nullable().describe('Null for the draft.'),
    content,
    changes: z
      .array(z.object({ path: z.string(), from: z.unknown(), to: z.unknown() }).meta({ id: 'ContentChange' }))
      .optional()
      .describe('How it differs from the version that `compare_to` names.'),
  })
  .meta({ id: 'AgentVersion' });

const figure = z.number().nullable();

const figures = z
  .object({
    cases: z.int().nullable().describe('Cases that were scored in both versions.'),
    before: figure.describe('Mean score of the published version.'),
    after: figure.describe('Mean score of the candidate.'),
    drop: figure.describe('Mean of before − after.'),
    p_value: figure.describe('How often so large a drop would be an accident.'),
    detectable_drop: figure.describe('The smallest drop that would be seen 9 times of 10.'),
    excluded_trials: z.int().nullable().describe('Trials without a score, of both versions.'),
    experiment_ids: z
      .array(id)
      .describe('Of the candidate, of the published version, and of its second run.'),
    failing_cases: z
      .array(
        z
          .object({ case_id: id, name: z.string(), before: z.number(), after: z.number() })
          .meta({ id: 'FailingCase' }),
      )
      .describe('At most 20, the largest drop first.'),
  })
  .meta({ id: 'GateFigures' });

export const publicPublication = z
  .object({
    id,
    kind: z.enum(['automatic', 'publish', 'rollback', 'promote']),
    state: z.enum(['checking', 'published', 'passed', 'blocked', 'inconclusive', 'cancelled']),
    from_version: z.int().nullable(),
    version: z.int(),
    note: z.string().nullable(),
    reason: z
      .string()
      .nullable()
      .describe('Of a rollback or an override; or why the platform ended the check without a verdict.'),
    overridden: z.boolean(),
    by: z
      .object({ kind: z.string(), id: z.string(), name: z.string() })
      .nullable()
      .describe('Null if a replica of an earlier release changed the agent.'),
    created_at: timestamp,
    gate: figures
      .nullable()
      .describe(
        'What the gate found; null if none checked it. During the check only the experiments are known.',
      ),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'PublicPublication' });

const arm = z
  .object({ finished: z.int(), failed: z.int() })
  .meta({ id: 'CanaryArm' })
  .describe('Runs that ended since the canary began, by the version that they were pinned to.');

const publicCanary = z
  .object({
    id,
    version: z.int(),
    percent: z.int(),
    until: timestamp.nullable(),
    rollback_when: z.object({ error_rate: z.number(), min_finished: z.int() }).nullable(),
    started_at: timestamp,
    canary: arm,
    published: arm,
  })
  .meta({ id: 'PublicCanary' });

/** The fields in which an agent shows its versions. */
export const versionFields = {
  version: z.int().describe('The version that is published.'),
  latest_version: z.int(),
  has_changes: z.boolean().describe('Whether its draft differs from the published version.'),
  canary: publicCanary.nullable().describe('The canary that runs; null if none does.'),
};

const reference = (what: string) =>
  z
    .union([z.literal('published'), z.literal('draft'), z.string().regex(/^[1-9]\d{0,8}$/)], {
      error: 'must be the number of a version, `published` or `draft`',
    })
    .describe(what);

export const compareQuery = z.object({
  compare_to: reference('The number of a version, `published` or `draft`: adds `changes`.').optional(),
});

export const publishBody = z
  .object({
    note: optional(text(2_000)).describe('Why it is published.'),
    check_only: optional(z.boolean(), false).describe(
      'Checks the draft, and does not publish it. Requires a gate.',
    ),
    override_reason: optional(text(2_000, 1)).describe(
      'Publishes at once, past the gate. Requires the role admin.',
    ),
    wait_seconds: optional(z.int().min(0).max(600), 0).describe(
      'How long the response waits for the end of the check.',
    ),
  })
  .meta({ id: 'PublishAgentBody' });

export const rollbackBody = z
  .object({
    version: number.describe('A version that was published before.'),
    reason: optional(text(2_000)),
  })
  .meta({ id: 'RollBackAgentBody' });

export const canaryBody = z
  .object({
    version: z.union([number, z.literal('draft')], { error: 'must be the number of a version, or `draft`' }),
    percent: z.int().min(1).max(99).describe('The share of what is claimed.'),
    until: optional(givenTime).describe('When it ends by itself.'),
    rollback_when: optional(
      z.object({
        error_rate: z.number().min(0.01).max(0.99),
        min_finished: optional(z.int().min(1).max(10_000), 20),
      }),
    ).describe('It ends by itself when more of its runs than this fail.'),
    override_reason: optional(text(2_000, 1)).describe(
      'Starts it although the gate has not passed the version. Requires the role admin.',
    ),
  })
  .meta({ id: 'StartCanaryBody' });
