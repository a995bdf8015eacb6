import { columns, safe } from '../show.ts';
import type { CaseResult, Experiment, Publication } from './results.ts';

/** Number of cases that are shown as the worst. */
const worstShown = 10;
/** Characters of an explanation that are shown. */
const explanationShown = 160;

const share = (value: number | null): string => (value === null ? '–' : value.toFixed(2));
const percent = (value: number | null): string => (value === null ? '–' : `${Math.round(value * 100)} %`);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const cut = (text: string): string => {
  const shown = safe(text);
  return shown.length > explanationShown ? `${shown.slice(0, explanationShown)}…` : shown;
};

/** Counts of the trials by outcome, without those that are 0. */
const outcomes = ({ trials }: Experiment): string =>
  (['completed', 'failed', 'diverged', 'error', 'cancelled'] as const)
    .filter((outcome) => trials[outcome] > 0)
    .map((outcome) => `${trials[outcome]} ${outcome}`)
    .join(', ');

/** The figures of an experiment. `title`: the agent, its version and the dataset. */
export const showExperiment = (title: string, experiment: Experiment): string => {
  const { score, pass_rate, scores, usage, duration_ms } = experiment;
  return [
    `${safe(title)}: score ${share(score)}, ${percent(pass_rate)} passed\n\n`,
    scores.length === 0
      ? 'No grader scores it: give the dataset graders.\n'
      : columns([
          ['grader', 'mean', 'passed', 'scored'],
          ...scores.map(({ grader, mean, pass_rate: passed, scored }) => [
            safe(grader),
            share(mean),
            percent(passed),
            String(scored),
          ]),
        ]),
    `\n${experiment.trials.total} trials: ${outcomes(experiment)}. `,
    `Tokens: ${usage.input_tokens} in, ${usage.output_tokens} out.`,
    duration_ms
      ? ` Half of them took ${seconds(duration_ms.p50)} or less, 95 % ${seconds(duration_ms.p95)}.\n`
      : '\n',
  ].join('');
};

/** The cases that did worst, with what was wrong; empty if all passed. */
export const showWorst = (results: readonly CaseResult[]): string => {
  const worst = results.filter(({ failures, errors }) => failures.length + errors.length > 0);
  if (worst.length === 0) return '';
  const lines = worst.slice(0, worstShown).map(({ name, score, failures, errors }) => {
    const said = [...errors, ...failures].slice(0, 3).map((text) => `        ${cut(text)}\n`);
    return `  ${share(score).padStart(4)}  ${safe(name)}\n${said.join('')}`;
  });
  const more = worst.length > worstShown ? `  and ${worst.length - worstShown} more\n` : '';
  return `\nWorst cases:\n${lines.join('')}${more}`;
};

const points = (value: number | null): string => (value === null ? '–' : String(Math.round(value * 100)));

/** The verdict of a gate. `title`: the agent and its version. */
export const showGate = (title: string, { state, gate, reason }: Publication): string => {
  // A check publishes nothing: this is the publication before it.
  if (state === 'published') return `${safe(title)} is published. There is no draft to check.\n`;
  const word = state === 'passed' ? 'Passed' : state === 'blocked' ? 'Blocked' : 'Inconclusive';
  if (!gate) return `${safe(title)}: ${word}.${reason ? ` ${safe(reason)}` : ''}\n`;
  const { cases, before, after, p_value, detectable_drop, excluded_trials, failing_cases } = gate;
  const failing = failing_cases.map(
    (one) => `  ${points(one.before)} → ${points(one.after)}  ${safe(one.name)}\n`,
  );
  return [
    `${safe(title)}: ${word}: ${points(before)} → ${points(after)} points\n\n`,
    `${cases} cases compared. p = ${p_value === null ? '–' : p_value.toFixed(3)}. `,
    detectable_drop === null
      ? ''
      : `A drop of ${points(detectable_drop)} points would be seen 9 times of 10. `,
    excluded_trials > 0 ? `${excluded_trials} trials have no score.\n` : '\n',
    failing.length > 0 ? `\nFailing cases:\n${failing.join('')}` : '',
  ].join('');
};
