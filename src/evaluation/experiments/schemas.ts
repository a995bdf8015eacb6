import { z } from 'zod';
import { costFields } from '../../charges/index.ts';
import { id, jsonValue, optional, pageOf, pageQuery, text, timestamp } from '../../http/index.ts';
import { runUsage } from '../../lib/usage.ts';
import { messagePart } from '../../messages/index.ts';
import { datasetGraders, shownGrader, shownModes, tagList, trialModes } from '../../trial-options/index.ts';
import { outcomes } from './kind.ts';

/** Bodies and responses of experiments and trials. */

const model = z.enum(['live', 'recorded']).describe('`recorded`: the model gives its recorded replies.');

export const createBody = z
  .object({
    dataset_id: z.string(),
    agent_id: z.string(),
    version: optional(
      z.union([z.literal('draft'), z.literal('published'), z.int().min(1).max(2_000_000_000)], {
        error: 'must be the number of a version, `draft` or `published`',
      }),
      'draft' as const,
    ).describe('What is tested. A draft is frozen: it becomes a version that was never published.'),
    repetitions: optional(z.int().min(1).max(10), 1).describe('Trials of each case.'),
    ...trialModes,
    model: optional(model, 'live' as const),
    graders: optional(datasetGraders, null).describe(
      'In the place of those of the dataset. Each case adds its own.',
    ),
    tags: optional(tagList, []).describe('Only cases with one of these tags.'),
    reuse: optional(z.boolean(), false).describe(
      'Takes over trials of the last 7 days of the same case, version, modes and models.',
    ),
  })
  .meta({ id: 'CreateExperimentBody' });

const states = ['queued', 'running', 'cancelled', 'done'] as const;

const { model_calls: _, tool_calls: __, ...tokens } = runUsage.shape;
const usage = z.object(tokens).meta({ id: 'TokenUsage' });
const count = z.int();
const value = z.number().nullable();

export const publicExperiment = z
  .object({
    id,
    dataset_id: id,
    agent_id: id,
    version: z.int().describe('The number of the version that is tested.'),
    repetitions: z.int(),
    ...shownModes,
    model,
    graders: z.array(shownGrader),
    tags: z.array(z.string()),
    reuse: z.boolean(),
    state: z.enum(states),
    trials: z
      .object({
        total: count,
        queued: count,
        running: count,
        completed: count,
        failed: count.describe('The agent failed.'),
        diverged: count.describe('The trial made a call that is not on the recording.'),
        error: count.describe('Something else failed. Such trials have no score.'),
        cancelled: count,
      })
      .meta({ id: 'TrialCounts' }),
    score: value.describe('Mean of the scores of its trials; null without one.'),
    pass_rate: value.describe('Share of the scored trials whose graders all pass.'),
    scores: z.array(
      z
        .object({
          grader: z.string(),
          mean: value,
          pass_rate: value,
          scored: count,
          unlabelled: count.describe('Trials that no one has labelled, of a grader that people can label.'),
        })
        .meta({ id: 'GraderSummary' }),
    ),
    usage: runUsage,
    judge_usage: usage.describe('What graders used.'),
    ...costFields,
    duration_ms: z.object({ p50: z.int(), p95: z.int() }).nullable().describe('Of its ended trials.'),
    llms: z
      .array(z.object({ llm_id: id, revision: z.int(), model: z.string() }))
      .describe('The models that its trials ask.'),
    publication_id: id.nullable().describe('The publication that it decides on.'),
    created_by: z.string(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'PublicExperiment' });

export const experimentPage = pageOf('ExperimentPage', publicExperiment);

export const experimentQuery = pageQuery.extend({
  agent_id: id.optional(),
  dataset_id: id.optional(),
  state: z.enum(states).optional(),
});

const score = z
  .object({
    grader: z.string(),
    type: z.string(),
    value: value.describe('From 0 to 1; null if there is none.'),
    label: z.enum(['pass', 'fail', 'error']).nullable().describe('Null while people have not labelled it.'),
    explanation: z.string().nullable(),
    usage: usage.nullable(),
  })
  .meta({ id: 'Score' });

export const publicLabel = z
  .object({
    grader: z.string(),
    verdict: z.enum(['pass', 'fail']),
    comment: z.string().nullable(),
    principal_id: z.string(),
    principal_name: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'Label' });

const change = z.object({
  path: z.string(),
  from: z.unknown().optional().describe('Absent: the recorded call does not have it.'),
  to: z.unknown().optional().describe('Absent: the call of the trial does not have it.'),
});

const divergence = z
  .object({
    step: z.int().describe('The number of the reply of the trial, from 1.'),
    kind: z.enum(['not_recorded', 'out_of_order', 'not_called', 'no_reply']),
    tool_name: z.string().nullable(),
    arguments: jsonValue,
    nearest: z
      .object({ arguments: jsonValue, changes: z.array(change) })
      .nullable()
      .describe('The recorded call of the tool that differs least.'),
  })
  .meta({ id: 'Divergence' });

export const publicTrial = z
  .object({
    id,
    experiment_id: id,
    case_id: id,
    case_revision: z.int(),
    case_name: z.string(),
    repetition: z.int(),
    outcome: z.enum(outcomes).nullable().describe('Null until it has ended.'),
    result: jsonValue.describe('null without one.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    score: value.describe('Mean of the values of its graders that are not null.'),
    scores: z.array(score),
    labels: z.array(publicLabel),
    divergences: z.array(divergence),
    unused_calls: z.int().nullable().describe('Recorded calls that it did not make.'),
    usage: runUsage.nullable(),
    steps: z.int().nullable().describe('Model calls.'),
    duration_ms: z.int().nullable(),
    agent_version: z.int(),
    transcript_hash: z.string().nullable().describe('SHA-256 of its transcript, in hex.'),
    reused_from: id.nullable().describe('The trial that it was taken over from.'),
  })
  .meta({ id: 'PublicTrial' });

export const trialPage = pageOf('TrialPage', publicTrial);

export const trialQuery = pageQuery.extend({
  outcome: z.enum(outcomes).optional(),
  case_id: id.optional(),
  grader: z.string().optional().describe('Trials that this grader has scored.'),
  label: z
    .enum(['pass', 'fail', 'error'])
    .optional()
    .describe('Trials to which `grader`, or any grader, gave this label.'),
  unlabelled: z.string().optional().describe('The name of a grader: trials that no one has labelled for it.'),
});

export const trialMessage = z
  .object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.array(messagePart) })
  .meta({ id: 'TrialMessage' });

export const messagePage = pageOf('TrialMessagePage', trialMessage);

export const labelBody = z
  .object({
    grader: z.string().describe('The name of a grader of the type human or llm_judge.'),
    verdict: z.enum(['pass', 'fail']),
    comment: optional(text(2_000), null),
  })
  .meta({ id: 'LabelTrialBody' });

export const compareQuery = z.object({
  with: id.describe('The experiment that is compared with it, over the same dataset.'),
  limit: pageQuery.shape.limit,
  next: z.string().optional(),
});

export const comparison = z
  .object({
    cases: z.int().describe('Cases with a score in both.'),
    before: value,
    after: value,
    drop: value.describe('Mean of before − after.'),
    p_value: value.describe('How often so large a drop would be an accident.'),
    detectable_drop: value.describe('The smallest drop that would be seen 9 times of 10.'),
    data: z
      .array(
        z
          .object({
            case_id: id,
            name: z.string(),
            before: value,
            after: value,
            trials: z
              .object({ before: z.array(id), after: z.array(id) })
              .describe('The ids of its trials in both.'),
          })
          .meta({ id: 'ComparedCase' }),
      )
      .describe('The largest drop first.'),
    has_more: z.boolean(),
    next: z.string().describe('Send it as `?next=` to get the next page; empty at the end.'),
  })
  .meta({ id: 'ExperimentComparison' });

const share = z.number().nullable();

const publicJudge = z
  .object({
    key: z.string().describe('SHA-256 of rubric, LLM configuration, model and votes, in hex.'),
    rubric: z.string(),
    llm_id: id,
    votes: z.int(),
    labels: z.object({ pass: count, fail: count }).describe('Trials, by the majority of people.'),
    confusion: z
      .object({ tp: count, fp: count, tn: count, fn: count })
      .describe('Positive is `fail`: `tp` are trials that people and the judge fail.'),
    precision: share.describe('Share of its fails that people confirm.'),
    recall: share.describe("Share of people's fails that it finds."),
    calibrated: z.boolean().describe('At least 50 labelled trials, 10 of them passed and 10 failed.'),
  })
  .meta({ id: 'PublicJudge' });

export const judgePage = pageOf('JudgePage', publicJudge);
