import type { ExperimentCase, NamedExperiment } from '../../api/types.gen.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { type Outcome, OutcomeTag } from '../../ui/index.ts';

type Trial = Pick<ExperimentCase['trials'][number], 'outcome' | 'label'>;
export type TrialMark = keyof typeof words.marks;

const kinds: Record<TrialMark, Outcome> = {
  passed: 'on-time',
  completed: 'on-time',
  not_passed: 'missing',
  failed: 'missing',
  diverged: 'late',
  error: 'skipped',
  cancelled: 'skipped',
  waiting: 'due',
};

/** The mark of a trial: how it ended and, if it completed, what the graders say. */
export const markOf = ({ outcome, label }: Trial): TrialMark => {
  if (outcome === null) return 'waiting';
  if (outcome !== 'completed') return outcome;
  return label === 'pass' ? 'passed' : label === null ? 'completed' : 'not_passed';
};

export const TrialTag = ({ mark }: { mark: TrialMark }) => (
  <OutcomeTag kind={kinds[mark]}>{words.marks[mark]}</OutcomeTag>
);

const states: Record<NamedExperiment['state'], Outcome> = {
  queued: 'due',
  running: 'due',
  cancelled: 'skipped',
  done: 'on-time',
};

export const ExperimentTag = ({ state }: Pick<NamedExperiment, 'state'>) => (
  <OutcomeTag kind={states[state]}>{words.states[state]}</OutcomeTag>
);

export const isOpen = ({ state }: Pick<NamedExperiment, 'state'>): boolean =>
  state === 'queued' || state === 'running';

export const endedOf = ({ trials }: Pick<NamedExperiment, 'trials'>): number =>
  trials.total - trials.queued - trials.running;

/** A score as points of 100, or that there is none. */
export const pointsOf = (score: number | null): string =>
  score === null ? words.unknown : words.points(score);
