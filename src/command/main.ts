import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { applyWorkspace, CommandFailure, exportWorkspace, type Plan, planWorkspace } from './client.ts';
import { evalUsage, readEvalOptions } from './eval/options.ts';
import { runEval } from './eval/run.ts';
import { loadTestUsage, readLoadTestOptions } from './load-test/options.ts';
import { runLoadTest } from './load-test/run.ts';
import { type Options, readOptions, secretsFor, UsageError, usage } from './options.ts';
import { isUnchanged, safe, showChanges, summary } from './show.ts';

/** The command `agent-platform`: the workspace as a document, evaluations for pipelines, and a platform under load. */

const print = (line: string): void => void process.stdout.write(line);

const readText = async (file: string): Promise<string> => {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${(error as { code?: string }).code ?? 'error'}).`);
  }
};

const runExport = async (options: Options): Promise<number> => {
  const { file } = options;
  const exported = await exportWorkspace(options, file.endsWith('.json') ? 'json' : 'yaml');
  if (file === '-') {
    print(exported);
    return 0;
  }
  try {
    await writeFile(file, exported);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written (${(error as { code?: string }).code ?? 'error'}).`);
  }
  process.stderr.write(`The workspace is in ${file}. Its secrets are references: it holds none.\n`);
  return 0;
};

const showPlan = ({ changes, secrets_needed, missing_scopes = [] }: Plan): void => {
  print(showChanges(changes));
  print(`${isUnchanged(changes) ? 'Nothing to change' : 'Plan'}: ${summary(changes)}.\n`);
  if (missing_scopes.length > 0) {
    const lacking = missing_scopes.map(
      ({ kind, scope }) => `${kind}: ${scope ?? 'only a key without scopes'}`,
    );
    process.stdout.write(`The API key lacks scopes to apply this (${lacking.join('; ')}).\n`);
  }
  if (secrets_needed.length > 0) {
    print(
      `Secrets that are needed (--secret NAME=VALUE, --secrets-from-env): ${secrets_needed.join(', ')}.\n`,
    );
  }
};

const runPlanOrApply = async (options: Options): Promise<number> => {
  const document = await readText(options.file);
  const body = { document, prune: options.prune, secrets: secretsFor(document, options, process.env) };
  const plan = await planWorkspace(options, body);
  showPlan(plan);
  const nothing = isUnchanged(plan.changes);
  if (options.command === 'plan') return nothing ? 0 : 2;
  if (nothing) return 0;
  const changes = await applyWorkspace(options, { ...body, fingerprint: plan.fingerprint });
  const done = changes.filter(({ action }) => action !== 'unchanged').length;
  print(`Applied: ${done} ${done === 1 ? 'change' : 'changes'}.\n`);
  return 0;
};

const usageOf = (command: string | undefined): string =>
  command === 'eval' ? evalUsage : command === 'load-test' ? loadTestUsage : usage;

const report = (error: unknown, command: string | undefined): number => {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usageOf(command)}`);
  else if (error instanceof CommandFailure) {
    if (error.plan) {
      print('\nThe plan of now:\n');
      showPlan(error.plan);
    }
    // Messages quote names that others gave.
    process.stderr.write(`Error: ${safe(error.message)}\n`);
    for (const { path, message } of error.details)
      process.stderr.write(`  ${safe(path)}: ${safe(message)}\n`);
  } else throw error;
  return 1;
};

const run = async (): Promise<number> => {
  const args = process.argv.slice(2);
  try {
    if (args[0] === 'load-test') {
      const options = readLoadTestOptions(args.slice(1), process.env);
      if (options) return await runLoadTest(options, print);
      print(loadTestUsage);
      return 0;
    }
    if (args[0] === 'eval') {
      const options = readEvalOptions(args.slice(1), process.env);
      if (options) return await runEval(options, print);
      print(evalUsage);
      return 0;
    }
    const options = readOptions(args, process.env);
    if (options) return await (options.command === 'export' ? runExport(options) : runPlanOrApply(options));
    print(usage);
    return 0;
  } catch (error) {
    return report(error, args[0]);
  }
};

process.exitCode = await run();
