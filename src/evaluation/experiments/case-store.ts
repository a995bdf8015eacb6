import { type Executor, sql, type Tx } from '../../database/index.ts';
import type { Grader } from '../graders/schemas.ts';
import type { TrialInput } from './trial-run.ts';

/** What experiments read of datasets and cases. */

export interface Dataset {
  id: string;
  mode: 'worker' | 'conversational';
  graders: Grader[];
}

/** Locks a dataset so that it is not deleted before the transaction ends. */
export const lockDatasetForShare = async (tx: Tx, id: string): Promise<Dataset | undefined> => {
  const { rows } = await sql<Dataset>`select id, mode, graders from datasets where id = ${id} for key share`.execute(
    tx,
  );
  return rows[0];
};

/** The enabled cases of a dataset with one of these tags, or all if there are none, in the order of their names. */
export const listEnabledCases = async (
  executor: Executor,
  datasetId: string,
  tags: readonly string[],
): Promise<{ id: string; revision: number; name: string }[]> => {
  const tagged = tags.length === 0 ? sql`` : sql`and tags && ${[...tags]}::text[]`;
  const { rows } = await sql<{ id: string; revision: number; name: string }>`
    select id, revision, name from cases where dataset_id = ${datasetId} and enabled ${tagged}
    order by name collate "C", id`.execute(executor);
  return rows;
};

/** The content of a case at one revision. */
export interface TrialCase extends TrialInput {
  expected: unknown;
  graders: Grader[];
}

interface StoredContent {
  input: { message: string; payload?: Record<string, unknown>; history?: TrialInput['history'] };
  expected?: unknown;
  graders?: Grader[];
  tape?: { messages: TrialInput['tape'] } | null;
}

export const findTrialCase = async (
  executor: Executor,
  caseId: string,
  revision: number,
): Promise<TrialCase | undefined> => {
  const { rows } = await sql<{ content: StoredContent }>`
    select content from case_contents where case_id = ${caseId} and revision = ${revision}`.execute(executor);
  const content = rows[0]?.content;
  if (!content) return undefined;
  const { input, expected = null, graders = [], tape = null } = content;
  return {
    message: input.message,
    payload: input.payload ?? {},
    history: input.history ?? [],
    tape: tape?.messages ?? null,
    expected,
    graders,
  };
};
