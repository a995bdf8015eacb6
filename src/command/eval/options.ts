import { type Access, parseArguments, readAccess, tooMany, UsageError } from '../options.ts';

/** Options of an evaluation. */
export interface EvalOptions extends Access {
  /** Name or id. */
  agent: string;
  /** Name or id of the dataset; null: the gate of the agent decides. */
  dataset: string | null;
  /** Fields of the experiment that were given. */
  experiment: Record<string, string | number>;
  /** The least score of the experiment, 0 to 1. */
  minScore: number | null;
  /** The file for the results as JUnit XML. */
  junit: string | null;
}

/** Options that are fields of the experiment, and the values that they take. */
const choices = {
  tools: ['replay', 'idempotent_live'],
  order: ['any_order', 'strict'],
  'on-divergence': ['end', 'error'],
  model: ['live', 'recorded'],
  approvals: ['auto_approve', 'auto_deny'],
} as const;

export const evalUsage = `Usage: agent-platform eval AGENT --dataset NAME [options]
       agent-platform eval AGENT --gate [--junit FILE]

Runs a version of an agent on every enabled case of a dataset, and prints its scores and its worst cases. With --gate it
asks the gate of the agent if the draft may be published, and publishes nothing. AGENT and NAME are names or ids.

  --dataset NAME            the dataset
  --gate                    the gate of the agent instead, with its own dataset and settings
  --version VERSION         draft, published or a number (draft)
  --trials N                trials of each case, 1–10 (1)
  --tools MODE              replay or idempotent_live (replay)
  --order ORDER             any_order or strict (any_order)
  --on-divergence ACTION    end or error (end)
  --model MODEL             live or recorded (live)
  --approvals DECISION      auto_approve or auto_deny (auto_approve)
  --min-score X             exit with 3 if the score is below X, 0–1
  --junit FILE              write the results as JUnit XML
  --url URL                 the address of the platform (AGENT_PLATFORM_URL, else http://127.0.0.1:8080)
  --key KEY                 a builder's API key (AGENT_PLATFORM_KEY)
  -h, --help                show this text

Exit status: 0 done or passed; 3 blocked, or the score is below X; 4 inconclusive, or trials had an error of the
world's; 1 wrong use, no connection, a refusal, or interrupted (which cancels the trials).
`;

const readNumber = (name: string, given: string, isValid: (n: number) => boolean, range: string): number => {
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (!isValid(value)) throw new UsageError(`--${name} must be ${range}.`);
  return value;
};

const readVersion = (given: string): string | number =>
  given === 'draft' || given === 'published'
    ? given
    : readNumber('version', given, (n) => Number.isInteger(n) && n > 0, 'draft, published or a number');

/** Reads the arguments after `eval`; null if help is asked for. Throws UsageError. */
export const readEvalOptions = (args: readonly string[], env: NodeJS.ProcessEnv): EvalOptions | null => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArguments({
    args: [...args],
    allowPositionals: true,
    options: {
      url: text,
      key: text,
      dataset: text,
      gate: flag,
      version: text,
      trials: text,
      tools: text,
      order: text,
      'on-divergence': text,
      model: text,
      approvals: text,
      'min-score': text,
      junit: text,
      help: { ...flag, short: 'h' },
    },
  });
  if (values.help) return null;
  const [agent, ...rest] = positionals;
  if (!agent) throw new UsageError('Name the agent: agent-platform eval AGENT --dataset NAME.');
  if (rest.length > 0) throw tooMany();

  const experiment: EvalOptions['experiment'] = {};
  if (values.version !== undefined) experiment.version = readVersion(values.version);
  if (values.trials !== undefined) {
    const isValid = (n: number): boolean => Number.isInteger(n) && n >= 1 && n <= 10;
    experiment.repetitions = readNumber('trials', values.trials, isValid, 'a whole number from 1 to 10');
  }
  for (const [name, allowed] of Object.entries(choices)) {
    const given = values[name as keyof typeof choices];
    if (given === undefined) continue;
    if (!(allowed as readonly string[]).includes(given))
      throw new UsageError(`--${name} must be ${allowed.join(' or ')}.`);
    experiment[name.replaceAll('-', '_')] = given;
  }
  const minScore = values['min-score'];
  if (
    values.gate &&
    (values.dataset !== undefined || minScore !== undefined || Object.keys(experiment).length > 0)
  )
    throw new UsageError(
      '--gate takes its dataset and settings from the agent; leave out the other options.',
    );
  if (!values.gate && !values.dataset)
    throw new UsageError('Name the dataset with --dataset NAME, or use --gate.');
  if (values.junit === '') throw new UsageError('Name the file with --junit FILE.');
  return {
    ...readAccess(values, env, 'a builder'),
    agent,
    dataset: values.gate ? null : values.dataset!,
    experiment,
    minScore:
      minScore === undefined
        ? null
        : readNumber('min-score', minScore, (n) => n >= 0 && n <= 1, 'a number from 0 to 1'),
    junit: values.junit ?? null,
  };
};
