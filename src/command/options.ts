import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The address of a platform, and the key that requests carry. */
export interface Access {
  /** Address of the platform without a slash at its end. */
  url: string;
  key: string;
}

export interface Options extends Access {
  command: 'export' | 'plan' | 'apply';
  /** `-`: standard input or output. */
  file: string;
  prune: boolean;
  secrets: ReadonlyMap<string, string>;
  secretsFromEnv: boolean;
}

/** A mistake of the caller, in words. It never contains the value of a secret. */
export class UsageError extends Error {}

export const usage = `Usage: agent-platform export|plan|apply -f FILE [options]
       agent-platform eval AGENT --dataset NAME|--gate [options]
       agent-platform load-test [options]

  export     write the workspace as a document to FILE, in JSON if it ends in .json, else in YAML
  plan       show what applying FILE would change
  apply      show it, and do just that
  eval       run an agent on the cases of a dataset, or ask its gate; its --help has its own options
  load-test  measure a running platform under load; its --help has its own options

  -f, --file FILE        the document; - is standard input or output
  --url URL              the address of the platform (AGENT_PLATFORM_URL, else http://127.0.0.1:8080)
  --key KEY              an administrator's API key (AGENT_PLATFORM_KEY)
  --prune                delete what FILE does not name, within the kinds that it names
  --secret NAME=VALUE    a value for \${secret:NAME}; can be repeated
  --secrets-from-env     take values from environment variables of the names that FILE refers to
  -h, --help             show this text

Exit status: 0 nothing to change, exported or applied; 2 changes planned; 1 an error.
`;

const commands = ['export', 'plan', 'apply'] as const;

const readSecrets = (given: readonly string[]): Map<string, string> => {
  const secrets = new Map<string, string>();
  for (const one of given) {
    const at = one.indexOf('=');
    if (at < 1) throw new UsageError('--secret must be NAME=VALUE.');
    secrets.set(one.slice(0, at), one.slice(at + 1));
  }
  return secrets;
};

const readUrl = (given: string): string => {
  if (!URL.canParse(given) || !/^https?:/.test(given)) {
    throw new UsageError('The address (--url, AGENT_PLATFORM_URL) must be an http or https address.');
  }
  return given.replace(/\/+$/, '');
};

/** Reads `--url` and `--key`. Throws UsageError. */
export const readAccess = (
  values: { url?: unknown; key?: unknown },
  env: NodeJS.ProcessEnv,
  role = 'an administrator',
): Access => {
  const key = values.key ?? env.AGENT_PLATFORM_KEY;
  if (!key) throw new UsageError(`Give an API key of ${role} with --key or AGENT_PLATFORM_KEY.`);
  const url = values.url ?? env.AGENT_PLATFORM_URL ?? `http://127.0.0.1:${env.PORT || 8080}`;
  return { url: readUrl(String(url)), key: String(key) };
};

/** An argument that is no option may be a secret that was meant for one, so it is not repeated. */
export const tooMany = (): UsageError => new UsageError('There is an argument too many after the command.');

/** `parseArgs` of Node. Throws UsageError. Take positionals: Node would quote them in its message. */
export const parseArguments = <T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> => {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node quotes the option, never its value.
    throw new UsageError((error as Error).message.split('. ')[0] ?? '');
  }
};

/** Reads the arguments; null if help is asked for. Throws UsageError. */
export const readOptions = (args: readonly string[], env: NodeJS.ProcessEnv): Options | null => {
  const { values, positionals } = parseArguments({
    args: [...args],
    allowPositionals: true,
    options: {
      file: { type: 'string', short: 'f' },
      url: { type: 'string' },
      key: { type: 'string' },
      prune: { type: 'boolean', default: false },
      secret: { type: 'string', multiple: true, default: [] },
      'secrets-from-env': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const [given, ...rest] = positionals;
  const command = commands.find((one) => one === given);
  if (!command) throw new UsageError('Say what to do: export, plan, apply, eval or load-test.');
  if (rest.length > 0) throw tooMany();
  const file = values.file ?? (command === 'export' ? '-' : undefined);
  if (file === undefined || file === '') throw new UsageError('Name the document with -f FILE.');
  return {
    ...readAccess(values, env),
    command,
    file,
    prune: values.prune,
    secrets: readSecrets(values.secret),
    secretsFromEnv: values['secrets-from-env'],
  };
};

/**
 * The values for the references of a document: those given, then, if asked for, those of environment variables of the
 * names that it refers to, and of no others.
 */
export const secretsFor = (
  document: string,
  { secrets, secretsFromEnv }: Options,
  env: NodeJS.ProcessEnv,
): Record<string, string> => {
  if (!secretsFromEnv) return Object.fromEntries(secrets);
  const referred = [...document.matchAll(/(?<!\$)\$\{secret:(\w+)\}/g)].map(([, name]) => name!);
  const found = referred.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : ([[name, value]] as const);
  });
  return Object.fromEntries([...found, ...secrets]);
};
