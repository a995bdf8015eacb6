import type { Services } from '../feature.ts';
import type { Models } from '../llm-configurations/index.ts';
import { type AskNeeds, createOpen, createQuestions } from './ask.ts';
import { schemaWarnings } from './model/index.ts';
import { createProbe } from './probe.ts';

/** Models outside of runs: tests of them, and questions to them, which share the same places. */
export const createModels = (
  services: Pick<Services, 'egress'> & AskNeeds,
): Models & { schemaWarnings: typeof schemaWarnings } => {
  const questions = createQuestions();
  return {
    probe: createProbe(services, questions),
    open: createOpen(services, { questions }),
    schemaWarnings,
  };
};
