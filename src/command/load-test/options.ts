import { type Access, parseArguments, readAccess, tooMany, UsageError } from '../options.ts';

/** Options of a load test. All amounts are for a second unless they say otherwise. */
export interface LoadTestOptions extends Access {
  seconds: number;
  /** Number of schedules, all due every minute. */
  schedules: number;
  workItems: number;
  reads: number;
  spans: number;
  /** Although others use the platform. */
  yes: boolean;
  /** True: only delete the agents that earlier load tests left. */
  clean: boolean;
}

/** The amounts: their least, most and default value, and what they are. */
const amounts = {
  seconds: [1, 3_600, 130, 'how long, in seconds; two begins of a minute lie in 130'],
  schedules: [0, 10_000, 20, 'schedules that are due every minute'],
  'work-items': [0, 500, 5, 'Work Items made in a second'],
  reads: [0, 500, 20, 'requests in a second that read Work Items and lists of them'],
  spans: [0, 50_000, 500, 'spans sent in a second, 50 in a request'],
} as const satisfies Record<string, readonly [least: number, most: number, otherwise: number, text: string]>;

const listed = Object.entries(amounts)
  .map(([name, [least, most, otherwise, text]]) => {
    return `  ${`--${name} N`.padEnd(22)} ${text} (${least}–${most}, ${otherwise})`;
  })
  .join('\n');

export const loadTestUsage = `Usage: agent-platform load-test [options]

Puts a bounded load on a running platform, prints what it measured, and deletes the agents and schedules that it
created. Its Work Items stay until the retention. All of it uses the built-in mock model.

${listed}
  --yes                  also if there are schedules of others, or integrations, which get its traces
  --clean                only delete the agents that earlier load tests left
  --url URL              the address of the platform (AGENT_PLATFORM_URL, else http://127.0.0.1:8080)
  --key KEY              an administrator's API key (AGENT_PLATFORM_KEY)
  -h, --help             show this text

Exit status: 0 all of it was done; 1 something failed or was refused.
`;

/** Reads the arguments after `load-test`; null if help is asked for. Throws UsageError. */
export const readLoadTestOptions = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): LoadTestOptions | null => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArguments({
    args: [...args],
    allowPositionals: true,
    options: {
      url: text,
      key: text,
      seconds: text,
      schedules: text,
      'work-items': text,
      reads: text,
      spans: text,
      yes: flag,
      clean: flag,
      help: { ...flag, short: 'h' },
    },
  });
  if (values.help) return null;
  if (positionals.length > 0) throw tooMany();
  const amount = (name: keyof typeof amounts): number => {
    const [least, most, otherwise] = amounts[name];
    const given = values[name] === undefined ? otherwise : Number(values[name]);
    if (!Number.isInteger(given) || given < least || given > most)
      throw new UsageError(`--${name} must be a whole number from ${least} to ${most}.`);
    return given;
  };
  return {
    ...readAccess(values, env),
    seconds: amount('seconds'),
    schedules: amount('schedules'),
    workItems: amount('work-items'),
    reads: amount('reads'),
    spans: amount('spans'),
    yes: values.yes === true,
    clean: values.clean === true,
  };
};
