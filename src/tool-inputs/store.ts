import { type Executor, sql, type Table, type Tx } from '../database/index.ts';
import type { SealedColumn, Vault } from '../lib/crypto.ts';
import { newId } from '../lib/ids.ts';
import type { InputAnswer, InputState } from './state.ts';

declare module '../database/database.ts' {
  interface Schema {
    tool_inputs: Table<
      {
        id: string;
        work_item_id: string | null;
        run_id: string | null;
        tool_call_id: string;
        /** InputState, sealed. */
        state: string;
        created_at: Date;
      },
      'created_at'
    >;
  }
}

export const inputColumn: SealedColumn = {
  table: 'tool_inputs',
  column: 'state',
  boundTo: (id) => `tool_inputs:${id}:state`,
};

/**
 * What seals the states. Answers come in transactions of Work Items and conversations, which know no services: like the
 * announcer of reviews, it is set when the platform begins.
 */
let vault: Vault | null = null;
export const sealInputsWith = (given: Vault): void => {
  vault = given;
};
const sealed = (id: string, state: InputState): string =>
  vault!.seal(JSON.stringify(state), inputColumn.boundTo(id));

/** The Work Item or the run of a conversation that makes the call. */
type InputOwner = { work_item_id: string } | { run_id: string };

const ofOwner = (owner: InputOwner) =>
  'work_item_id' in owner ? sql`work_item_id = ${owner.work_item_id}` : sql`run_id = ${owner.run_id}`;

const list = async (executor: Executor, owner: InputOwner, lock: boolean) => {
  const { rows } = await sql<{ id: string; tool_call_id: string; state: string }>`
    select id, tool_call_id, state from tool_inputs where ${ofOwner(owner)}
    ${lock ? sql`for update` : sql``}`.execute(executor);
  return rows.map(({ id, tool_call_id, state }) => ({
    id,
    tool_call_id,
    state: JSON.parse(vault!.open(state, inputColumn.boundTo(id))) as InputState,
  }));
};

/** The calls of the run that wait for input or have got it, by their ids. */
const read = async (executor: Executor, owner: InputOwner): Promise<Map<string, InputState>> =>
  new Map((await list(executor, owner, false)).map(({ tool_call_id, state }) => [tool_call_id, state]));

/** Keeps the calls that ask for input, in the place of what was kept of them, and forgets those that have ended. */
const store = async (
  tx: Tx,
  owner: InputOwner,
  {
    inputs: states,
    endedInputs = [],
  }: { inputs?: ReadonlyMap<string, InputState>; endedInputs?: readonly string[] },
): Promise<void> => {
  await end(tx, owner, [...endedInputs, ...(states?.keys() ?? [])]);
  if (!states || states.size === 0) return;
  const none = { work_item_id: null, run_id: null };
  const rows = [...states].map(([tool_call_id, state]) => {
    const id = newId();
    return { id, ...none, ...owner, tool_call_id, state: sealed(id, state) };
  });
  await tx.insertInto('tool_inputs').values(rows).execute();
};

/** Forgets these calls: they have ended. */
const end = async (tx: Tx, owner: InputOwner, callIds: readonly string[]): Promise<void> => {
  if (callIds.length === 0) return;
  await sql`delete from tool_inputs where ${ofOwner(owner)} and tool_call_id = any(${callIds}::text[])`.execute(
    tx,
  );
};

/** Forgets all calls of these Work Items or runs. */
const forget = async (tx: Tx, of: 'work_item_id' | 'run_id', ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  await sql`delete from tool_inputs where ${sql.ref(of)} = any(${ids}::uuid[])`.execute(tx);
};

/** Keeps the answers of people, by the ids of the approvals. */
const answer = async (
  tx: Tx,
  owner: InputOwner,
  answers: Readonly<Record<string, InputAnswer>>,
): Promise<void> => {
  if (Object.keys(answers).length === 0) return;
  for (const { id, state } of await list(tx, owner, true)) {
    const own = state.requests.filter(({ approvalId }) => Object.hasOwn(answers, approvalId));
    if (own.length === 0) continue;
    const given = Object.fromEntries(own.map(({ approvalId }) => [approvalId, answers[approvalId]!]));
    const after = sealed(id, { ...state, answers: { ...state.answers, ...given } });
    await sql`update tool_inputs set state = ${after} where id = ${id}`.execute(tx);
  }
};

/** What runs do with the calls that ask for input. Each needs nothing but its transaction. */
export const inputCalls = { read, store, end, forget, answer };
