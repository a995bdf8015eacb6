import type { Check, GateFigures, Verdict } from '../../agents/index.ts';
import type { Executor } from '../../database/index.ts';
import { type CaseScore, figuresOf, listCaseScores, pairCases } from '../experiments/compare.ts';
import { listCalibrated } from '../experiments/judges.ts';
import { findExperiment, hasOpenTrials } from '../experiments/store.ts';
import { isInconclusive, isWorse } from '../statistics.ts';

/** The verdict of a check, from what its experiments found. */

/** `again`: the candidate is worse, and the published version's trials have to run once more before that counts. */
export interface Decision {
  verdict: Verdict | 'again';
  figures: GateFigures;
  /** Reason if there is no verdict; null: the figures say so. */
  reason: string | null;
}

/** Figures of which only the experiments are known. */
export const unknownFigures = (experimentIds: readonly string[]): GateFigures => ({
  cases: null,
  before: null,
  after: null,
  drop: null,
  p_value: null,
  detectable_drop: null,
  excluded_trials: null,
  experiment_ids: [...experimentIds],
  failing_cases: [],
});

const mostFailing = 20;

const armOf = (cases: readonly CaseScore[]) => ({
  trials: cases.reduce((sum, { trials }) => sum + trials, 0),
  unscored: cases.reduce((sum, { unscored }) => sum + unscored, 0),
});

/**
 * Returns what the check has come to; null while trials of it have not ended. Scores of people, and of judges that are not
 * calibrated, do not count.
 */
export const decide = async (executor: Executor, check: Check): Promise<Decision | null> => {
  const { experiment_ids: ids } = check.figures;
  for (const id of ids) {
    if (!(await findExperiment(executor, id))) {
      const figures = unknownFigures(ids);
      return { verdict: 'inconclusive', figures, reason: 'An experiment of the check was deleted.' };
    }
    if (await hasOpenTrials(executor, id)) return null;
  }
  const [candidate, first, second] = ids;
  const published = second ?? first!;
  const judges = await listCalibrated(executor, [candidate!, published]);
  const before = await listCaseScores(executor, published, judges);
  const after = await listCaseScores(executor, candidate!, judges);
  const cases = pairCases(before, after);
  const { max_drop: maxDrop, confidence } = check.rules;
  const comparison = await figuresOf(cases, { confidence, seed: [candidate!, published] });
  const arms = [armOf(before), armOf(after)];
  const figures: GateFigures = {
    cases: comparison.cases,
    before: comparison.before,
    after: comparison.after,
    drop: comparison.drop,
    p_value: comparison.pValue,
    detectable_drop: comparison.detectableDrop,
    excluded_trials: arms[0]!.unscored + arms[1]!.unscored,
    experiment_ids: [...ids],
    failing_cases: cases
      .flatMap(({ case_id, name, before: from, after: to }) =>
        from !== null && to !== null && from > to ? [{ case_id, name, before: from, after: to }] : [],
      )
      .slice(0, mostFailing),
  };
  if (isInconclusive(comparison, arms)) return { verdict: 'inconclusive', figures, reason: null };
  if (!isWorse(comparison, { maxDrop, confidence })) return { verdict: 'passed', figures, reason: null };
  return { verdict: second === undefined ? 'again' : 'blocked', figures, reason: null };
};
