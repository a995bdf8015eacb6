/** Experiments, trials and publications, with the fields that the command reads. */

export interface Experiment {
  id: string;
  state: 'queued' | 'running' | 'cancelled' | 'done';
  version: number;
  trials: Record<
    'total' | 'queued' | 'running' | 'completed' | 'failed' | 'diverged' | 'error' | 'cancelled',
    number
  >;
  score: number | null;
  pass_rate: number | null;
  scores: { grader: string; mean: number | null; pass_rate: number | null; scored: number }[];
  usage: { input_tokens: number; output_tokens: number };
  duration_ms: { p50: number; p95: number } | null;
  publication_id: string | null;
}

export interface Trial {
  case_id: string;
  case_name: string;
  outcome: 'completed' | 'failed' | 'diverged' | 'error' | 'cancelled' | null;
  error: { code: string; message: string } | null;
  score: number | null;
  scores: { grader: string; label: 'pass' | 'fail' | 'error' | null; explanation: string | null }[];
  divergences: { step: number; kind: string; tool_name: string | null }[];
  duration_ms: number | null;
}

export interface Publication {
  id: string;
  state: 'checking' | 'published' | 'passed' | 'blocked' | 'inconclusive' | 'cancelled';
  version: number;
  reason: string | null;
  gate: {
    cases: number;
    before: number | null;
    after: number | null;
    drop: number | null;
    p_value: number | null;
    detectable_drop: number | null;
    excluded_trials: number;
    experiment_ids: string[];
    failing_cases: { name: string; before: number; after: number }[];
  } | null;
}

/** The trials of one case. */
export interface CaseResult {
  name: string;
  /** Mean of the scores of its trials; null without one. */
  score: number | null;
  seconds: number;
  /** Reasons why trials did not pass: errors of the agent, divergences and explanations of graders. */
  failures: string[];
  /** Reasons why trials have no score. */
  errors: string[];
  isCancelled: boolean;
}

const failuresOf = ({ outcome, error, scores, divergences }: Trial): string[] => {
  if (outcome === 'failed') return [`${error?.code ?? 'failed'}: ${error?.message ?? 'the agent failed'}`];
  if (outcome === 'diverged') {
    const [first] = divergences;
    return [
      `diverged in step ${first?.step ?? '?'}: ${first?.kind ?? ''} ${first?.tool_name ?? ''}`.trimEnd(),
    ];
  }
  return scores
    .filter(({ label }) => label === 'fail')
    .map(({ grader, explanation }) => `${grader}: ${explanation ?? 'failed'}`);
};

const errorsOf = ({ outcome, error, scores }: Trial): string[] =>
  outcome === 'error'
    ? [`${error?.code ?? 'error'}: ${error?.message ?? ''}`]
    : scores
        .filter(({ label }) => label === 'error')
        .map(({ grader, explanation }) => `${grader}: ${explanation ?? 'could not score'}`);

/** Groups trials by their case: the worst first, those without a score last. */
export const resultsOf = (trials: readonly Trial[]): CaseResult[] =>
  [...Map.groupBy(trials, ({ case_id }) => case_id).values()]
    .map((ofCase): CaseResult => {
      const scored = ofCase.flatMap(({ score }) => (score === null ? [] : [score]));
      return {
        name: ofCase[0]!.case_name,
        score: scored.length === 0 ? null : scored.reduce((sum, one) => sum + one, 0) / scored.length,
        seconds: ofCase.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0) / 1_000,
        failures: [...new Set(ofCase.flatMap(failuresOf))],
        errors: [...new Set(ofCase.flatMap(errorsOf))],
        isCancelled: ofCase.every(({ outcome }) => outcome === 'cancelled'),
      };
    })
    .sort((a, b) => (a.score ?? 2) - (b.score ?? 2) || a.name.localeCompare(b.name));
