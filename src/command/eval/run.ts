import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiOf, type Json, listAll } from '../api.ts';
import { CommandFailure } from '../client.ts';
import { safe } from '../show.ts';
import { junitOf } from './junit.ts';
import type { EvalOptions } from './options.ts';
import { type CaseResult, type Experiment, type Publication, resultsOf, type Trial } from './results.ts';
import { showExperiment, showGate, showWorst } from './show.ts';

/** `agent-platform eval`: an experiment or the gate of an agent, for pipelines. */

type Print = (text: string) => void;

/** Exit statuses. */
const done = 0;
const interrupted = 1;
const worse = 3;
const unclear = 4;

/** Milliseconds between two looks at the trials: short at first, so that a small dataset is not waited for. */
const pollMs = { least: 250, most: 2_000 };

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Finds a thing by its id, else by its name. Throws CommandFailure if there is none or more than one. */
const findByName = async (api: Api, path: string, text: string, given: string): Promise<Json> => {
  const all = await listAll(api, path);
  const found = all.filter(({ id, name }) => id === given.toLowerCase() || name === given);
  if (found.length === 1) return found[0];
  if (found.length === 0) throw new CommandFailure(`There is no ${text} ${JSON.stringify(given)}.`);
  const ids = found.map(({ id }) => id).join(', ');
  throw new CommandFailure(
    `${found.length} ${text}s are named ${JSON.stringify(given)}. Give the id of one: ${ids}.`,
  );
};

const findById = async (api: Api, path: string, id: string): Promise<Json> => api.get(`${path}/${id}`);

/** Shows on standard error how many trials have ended: in one line on a terminal, else a line for each change. */
const progress = () => {
  let shown = '';
  return {
    show: (trials: readonly Experiment['trials'][]): void => {
      const total = trials.reduce((sum, one) => sum + one.total, 0);
      const open = trials.reduce((sum, one) => sum + one.queued + one.running, 0);
      const text = `${total - open} of ${total} trials`;
      if (text === shown || total === 0) return;
      shown = text;
      process.stderr.write(process.stderr.isTTY ? `\r${text}\u001b[K` : `${text}\n`);
    },
    end: (): void => {
      if (shown !== '' && process.stderr.isTTY) process.stderr.write('\n');
    },
  };
};

/**
 * Calls `look` until it returns something. When `stop` is aborted, calls `cancel`, and throws CommandFailure. Looks are
 * patient with a platform that is being replaced.
 */
const waitFor = async <T>(
  stop: AbortSignal,
  look: () => Promise<T | null>,
  cancel: () => Promise<unknown>,
): Promise<T> => {
  for (let pause = pollMs.least; ; pause = Math.min(pollMs.most, pause * 1.5)) {
    if (stop.aborted) {
      await cancel();
      throw new CommandFailure('Interrupted. The trials are cancelled.');
    }
    const found = await look();
    if (found !== null) return found;
    await sleep(pause, undefined, { signal: stop }).catch(() => {});
  }
};

/** It may have ended at the same moment, which is no failure. */
const unlessOver = (request: Promise<unknown>): Promise<unknown> =>
  request.catch((error: unknown) => {
    if ((error as CommandFailure).status !== 412) throw error;
  });

const readResults = async (api: Api, experimentId: string): Promise<CaseResult[]> =>
  resultsOf((await listAll(api, `/experiments/${experimentId}/trials`)) as Trial[]);

const writeJunit = async (file: string, document: string): Promise<void> => {
  try {
    await writeFile(file, document);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written (${(error as { code?: string }).code ?? 'error'}).`);
  }
};

/** A thing whose name or id was given. */
interface Named {
  id: string;
  name: string;
}

interface Run {
  agent: Named;
  print: Print;
  /** Aborted by SIGINT and SIGTERM. */
  stop: AbortSignal;
}

const runExperiment = async (
  api: Api,
  { dataset: given, experiment: fields, minScore, junit }: EvalOptions,
  { agent, print, stop }: Run,
): Promise<number> => {
  const dataset: Named = await findByName(api, '/datasets', 'dataset', given!);
  const started: Experiment = await api.post('/experiments', {
    ...fields,
    agent_id: agent.id,
    dataset_id: dataset.id,
  });
  process.stderr.write(`Experiment ${started.id}: version ${started.version} of ${safe(agent.name)}\n`);
  const { show, end } = progress();
  const ended = await waitFor(
    stop,
    async () => {
      const now: Experiment = await findById(api, '/experiments', started.id);
      show([now.trials]);
      return now.state === 'done' || now.state === 'cancelled' ? now : null;
    },
    () => unlessOver(api.post(`/experiments/${started.id}/cancel`, {})),
  ).finally(end);

  const results = await readResults(api, ended.id);
  const className = `${agent.name} version ${ended.version}`;
  print(showExperiment(`${className} on ${dataset.name}`, ended));
  print(showWorst(results));
  if (junit !== null) await writeJunit(junit, junitOf({ name: dataset.name, className, cases: results }));

  if (ended.state === 'cancelled') {
    process.stderr.write('The experiment was cancelled.\n');
    return interrupted;
  }
  if (minScore !== null && ended.score !== null && ended.score < minScore) {
    print(`\nThe score ${ended.score.toFixed(3)} is below ${minScore}.\n`);
    return worse;
  }
  if (ended.trials.error > 0) return unclear;
  if (minScore !== null && ended.score === null) {
    print('\nThere is no score to compare: no grader scored a trial.\n');
    return unclear;
  }
  return done;
};

/** Asks the gate. A verdict that it has already comes at once: a refusal names its publication. */
const startCheck = async (api: Api, agent: Named): Promise<Publication> => {
  try {
    const response = await api.post(`/agents/${agent.id}/publish`, { check_only: true });
    return response.publication ?? response;
  } catch (error) {
    const { status, publication } = error as CommandFailure;
    if (status !== 412 || !publication) throw error;
    const found: Publication = await findById(api, `/agents/${agent.id}/publications`, publication.id);
    if (found.state === 'checking') throw error;
    return found;
  }
};

const gateOutcomes: Record<Publication['state'], number> = {
  checking: interrupted,
  published: done,
  passed: done,
  blocked: worse,
  inconclusive: unclear,
  cancelled: interrupted,
};

/** The verdict as one more test case. */
const gateCase = ({ state }: Publication, shown: string): CaseResult => ({
  name: 'gate',
  score: null,
  seconds: 0,
  failures: state === 'blocked' ? [shown] : [],
  errors: state === 'inconclusive' ? [shown] : [],
  isCancelled: state === 'cancelled',
});

const runGate = async (api: Api, { junit }: EvalOptions, { agent, print, stop }: Run): Promise<number> => {
  const started = await startCheck(api, agent);
  process.stderr.write(`Publication ${started.id}: version ${started.version} of ${safe(agent.name)}\n`);
  const { show, end } = progress();
  const experimentsOf = async ({ id }: Publication): Promise<Experiment[]> => {
    const { data } = await api.get(`/experiments?agent_id=${agent.id}&limit=20`);
    return (data as Experiment[]).filter(({ publication_id }) => publication_id === id);
  };
  const ended = await waitFor(
    stop,
    async () => {
      const now: Publication = await findById(api, `/agents/${agent.id}/publications`, started.id);
      if (now.state !== 'checking') return now;
      show((await experimentsOf(now)).map(({ trials }) => trials));
      return null;
    },
    () => unlessOver(api.post(`/agents/${agent.id}/publications/${started.id}/cancel`, {})),
  ).finally(end);

  const className = `${agent.name} version ${ended.version}`;
  const shown = showGate(className, ended);
  print(shown);
  if (junit !== null) {
    const { dataset_id } = (await findById(api, '/agents', agent.id)).gate ?? {};
    const name: string = dataset_id ? (await findById(api, '/datasets', dataset_id)).name : agent.name;
    const experiments = await Promise.all(
      (ended.gate?.experiment_ids ?? []).map(
        (id) => findById(api, '/experiments', id) as Promise<Experiment>,
      ),
    );
    const candidate = experiments.find(({ version }) => version === ended.version);
    const cases = candidate ? await readResults(api, candidate.id) : [];
    await writeJunit(junit, junitOf({ name, className, cases: [...cases, gateCase(ended, shown.trim())] }));
  }
  if (ended.state === 'cancelled') process.stderr.write('The check was cancelled.\n');
  return gateOutcomes[ended.state];
};

/** Runs an evaluation, prints its result, and returns the exit status. Throws CommandFailure. */
export const runEval = async (options: EvalOptions, print: Print): Promise<number> => {
  const api = apiOf(options, { patient: true });
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  // From before the trials exist, so that none is left. Not once: `npx` passes on the SIGINT that the terminal sends to
  // both, and the second would end it before it cancels.
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const agent: Named = await findByName(api, '/agents', 'agent', options.agent);
    const run: Run = { agent, print, stop: stop.signal };
    return await (options.dataset === null ? runGate(api, options, run) : runExperiment(api, options, run));
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
};
