import { audit } from '../../audit/index.ts';
import { type Executor, sql, type Tx } from '../../database/index.ts';
import { ApiError, notFound, unprocessable } from '../../lib/errors.ts';
import type { Actor } from '../../lib/principal.ts';
import { isStorable } from '../../lib/text.ts';
import type { Grader } from '../../trial-options/index.ts';
import { labelOf } from '../graders/grade.ts';

/** Labels: what people say of a trial. They score human graders and calibrate judges. */

export interface Label {
  trial_id: string;
  grader: string;
  verdict: 'pass' | 'fail';
  comment: string | null;
  principal_id: string;
  principal_name: string;
  created_at: Date;
}

/** The ended trial that is labelled. */
interface Labelled {
  id: string;
  experiment_id: string;
  outcome: string | null;
}

const columns = sql`trial_id, grader, verdict, comment, principal_id, principal_name, created_at`;

export const listLabels = async (executor: Executor, trialIds: readonly string[]): Promise<Label[]> => {
  const { rows } =
    await sql<Label>`select ${columns} from labels where trial_id = any(${[...trialIds]}::uuid[])
    order by created_at, principal_id`.execute(executor);
  return rows;
};

/** The score of a human grader is the mean of its labels; that of a trial the mean of its graders. */
const rescore = async (tx: Tx, trialId: string, grader: Grader): Promise<void> => {
  const { rows } = await sql<{
    mean: number | null;
  }>`select avg((verdict = 'pass')::integer)::double precision as mean
    from labels where trial_id = ${trialId} and grader = ${grader.name}`.execute(tx);
  const mean = rows[0]!.mean;
  const value = mean === null || !grader.negate ? mean : 1 - mean;
  const label = value === null ? null : labelOf(grader, value);
  await sql`update scores set value = ${value}, label = ${label}
    where trial_id = ${trialId} and grader = ${grader.name}`.execute(tx);
  await sql`update trials set score = (select avg(value) from scores where trial_id = ${trialId})
    where id = ${trialId}`.execute(tx);
};

/** Locks the trial and returns the score of the grader. Throws 412 while it has not ended, and 422. */
const lockLabelled = async (tx: Tx, trial: Labelled, name: string) => {
  const { rows: locked } = await sql<{ outcome: string | null }>`
    select outcome from trials where id = ${trial.id} for no key update`.execute(tx);
  const [now] = locked;
  if (!now) throw notFound('trial');
  if (now.outcome === null) {
    throw new ApiError('precondition_failed', 'The trial has not ended. Label it when it has.');
  }
  const { rows } = await sql<{ type: Grader['type']; label: string | null; judge_key: string | null }>`
    select type, label, judge_key from scores where trial_id = ${trial.id} and grader = ${name}`.execute(tx);
  const [score] = rows;
  if (!score || (score.type !== 'human' && score.type !== 'llm_judge')) {
    const message = 'is not a grader of this trial of the type human or llm_judge';
    throw unprocessable([{ path: 'grader', message }]);
  }
  return { ...score, outcome: now.outcome };
};

/** Labels a trial: one label a person and grader, which replaces theirs before. Throws 412 and 422. */
export const labelTrial = async (
  tx: Tx,
  actor: Actor,
  trial: Labelled,
  { grader: name, verdict, comment }: { grader: string; verdict: 'pass' | 'fail'; comment: string | null },
  graders: readonly Grader[],
): Promise<Label> => {
  const score = await lockLabelled(tx, trial, name);
  const judged = score.label === 'pass' || score.label === 'fail' ? score.label : null;
  const { id, name: person } = actor.principal;
  const { rows } = await sql<Label>`
    insert into labels (trial_id, grader, principal_id, principal_name, verdict, comment, judge_key, judge_verdict)
    values (${trial.id}, ${name}, ${id}, ${person}, ${verdict}, ${comment}, ${score.judge_key},
      ${score.judge_key === null ? null : judged})
    on conflict (trial_id, grader, principal_id) do update set verdict = excluded.verdict, comment = excluded.comment,
      principal_name = excluded.principal_name, created_at = platform_now()
    returning ${columns}`.execute(tx);
  const grader = graders.find((one) => one.name === name);
  if (score.type === 'human' && score.outcome === 'completed' && grader) await rescore(tx, trial.id, grader);
  await audit(tx, actor, 'label.create', trial.id, {
    experiment_id: trial.experiment_id,
    grader: name,
    verdict,
  });
  return rows[0]!;
};

/** Takes back the label of the caller. Throws 404 if there is none. */
export const removeLabel = async (
  tx: Tx,
  actor: Actor,
  trial: Labelled,
  name: string,
  graders: readonly Grader[],
): Promise<void> => {
  if (!isStorable(name)) throw notFound('label');
  const { rows: found } = await sql`delete from labels where trial_id = ${trial.id} and grader = ${name}
    and principal_id = ${actor.principal.id} returning 1`.execute(tx);
  if (found.length === 0) throw notFound('label');
  const { type, outcome } = await lockLabelled(tx, trial, name);
  const grader = graders.find((one) => one.name === name);
  if (type === 'human' && outcome === 'completed' && grader) await rescore(tx, trial.id, grader);
  const details = { experiment_id: trial.experiment_id, grader: name };
  await audit(tx, actor, 'label.delete', trial.id, details);
};
