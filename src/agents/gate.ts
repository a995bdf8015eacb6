import { z } from 'zod';
import { id, optional } from '../http/index.ts';
import { nullable } from '../resource/index.ts';
import { datasetGraders, shownGrader, shownModes, tagList, trialModes } from '../trial-options/index.ts';

/** The gate of an agent: what a version has to pass before it is published. */

const figures = {
  trials: z.int().min(1).max(10).describe('Trials of each case, of the draft and of the published version.'),
  max_drop: z.number().min(0).max(1).describe('The largest drop of the mean score that is no fault.'),
  confidence: z
    .number()
    .min(0.5)
    .max(0.999)
    .describe('A larger drop blocks only if it is an accident in at most 1 − `confidence` of cases.'),
};

const gate = z
  .object({
    dataset_id: id.describe(
      'The dataset on which both versions are tested. It has at least 20 enabled cases.',
    ),
    tags: optional(tagList, []).describe('Only cases with one of these tags.'),
    graders: optional(datasetGraders, null).describe('In the place of those of the dataset.'),
    trials: optional(figures.trials, 3),
    max_drop: optional(figures.max_drop, 0.03),
    confidence: optional(figures.confidence, 0.95),
    ...trialModes,
  })
  .meta({ id: 'GateBody' });

/** A gate with every field. */
export type Gate = z.output<typeof gate>;

const shownGate = z
  .object({
    dataset_id: id,
    tags: z.array(z.string()),
    graders: z.array(shownGrader).nullable().describe('Null: those of the dataset.'),
    ...figures,
    ...shownModes,
  })
  .meta({ id: 'Gate' });

export const gateField = nullable(
  gate.describe(
    'A draft is only published if it is not worse than the published version on a dataset. Requires the role admin and `release: manual`.',
  ),
)
  .shownAs(shownGate.nullable().describe('What a draft has to pass before it is published; null: nothing.'))
  .json()
  .refersTo('dataset', 'gate', { inside: { id: 'dataset_id', name: 'dataset' } })
  .refersTo('llm_configuration', 'gate', { at: 'graders', inside: { id: 'llm_id', name: 'llm' } });
