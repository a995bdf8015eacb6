import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

interface TrialRow {
  id: string;
  status: string;
  attempts: number;
  scores: number;
}

export interface TrialsReport {
  /** Times that a trial was taken from a lost worker. */
  takenOver: number;
  problems: string[];
}

const cases = 10;
const repetitions = 2;
const graders = [
  { type: 'contains', values: ['answer'] },
  { type: 'steps', max_steps: 1 },
];

/**
 * Two replicas run experiments; the one that has trials is killed and started again, in turn. At the end each trial is there
 * once, with one score of each grader.
 */
export const runTrials = async (kills: number): Promise<TrialsReport> => {
  await using fixture = await Fixture.open('postgres', 2);
  await Promise.all([fixture.start(0), fixture.start(1)]);
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const agent = await must(api.post('/agents', { name: 'Tested', mode: 'worker' }));
  const dataset = await must(api.post('/datasets', { name: 'Cases', graders }));
  for (let i = 0; i < cases; i++) {
    const payload = { n: i, mock: { steps: [{ text: 'the answer', delay_ms: 700 }] } };
    await must(api.post(`/datasets/${dataset.id}/cases`, { input: { message: 'Go', payload } }));
  }
  const experiments: string[] = [];
  const offer = async (client = api): Promise<void> => {
    const body = { agent_id: agent.id, dataset_id: dataset.id, repetitions };
    experiments.push((await must(client.post('/experiments', body))).id!);
  };
  for (let n = 0; n < kills; n++) {
    const victim = n % 2;
    const pid = fixture.replicas[victim]!.process!.pid;
    const holds = () =>
      fixture.inspect(async (rows) => {
        const running = `status = 'running' and lease_owner like '%:${pid}'`;
        return (await rows(`select 1 from trials where ${running}`)).length > 0;
      });
    await offer(fixture.api(1 - victim));
    // The other replica may have ended them all before this one looked.
    await until(async () => (await holds()) || (await offer(fixture.api(1 - victim))), 20_000, 500);
    await fixture.kill(victim);
    await fixture.start(victim);
  }
  for (const id of experiments) {
    const isDone = async () => (await must(fixture.api().get(`/experiments/${id}`))).state === 'done';
    await until(isDone, 60_000, 100);
  }
  const rows = await fixture.inspect((query) =>
    query<TrialRow>(`select t.id, t.status, t.attempts,
      (select count(*)::int from scores s where s.trial_id = t.id) as scores from trials t`),
  );
  const problems = rows.flatMap((row) =>
    row.status === 'completed' && row.scores === graders.length ? [] : [JSON.stringify(row)],
  );
  const expected = experiments.length * cases * repetitions;
  if (rows.length !== expected) problems.push(`${rows.length} of ${expected} trials`);
  for (const id of experiments) {
    const { body } = await fixture.api().get(`/experiments/${id}`);
    if (body.score !== 1 || body.trials.completed !== cases * repetitions)
      problems.push(JSON.stringify(body));
  }
  return { takenOver: rows.reduce((sum, { attempts }) => sum + attempts - 1, 0), problems };
};
