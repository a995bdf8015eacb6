import { type Executor, sql, type Tx } from '../../database/index.ts';
import type { Grader } from '../graders/schemas.ts';

/** What experiments read of datasets and cases. */

export interface TestedDataset {
  id: string;
  mode: 'worker' | 'conversational';
  graders: Grader[];
}

/** Locks a dataset, so that neither it nor its cases change before the transaction ends. */
export const lockTestedDataset = async (tx: Tx, id: string): Promise<TestedDataset | undefined> => {
  const { rows } =
    await sql<TestedDataset>`select id, mode, graders from datasets where id = ${id} for share`.execute(tx);
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
