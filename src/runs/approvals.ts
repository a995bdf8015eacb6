import { json, type RawBuilder, sql } from '../database/index.ts';
import { type RunKind, type RunRow, sqlOf } from './kind.ts';
import type { StoredDecision } from './types.ts';

/** All assignments to `pending_approvals`, and those to `decisions` and `unsafe_calls` that no step of an attempt makes. */

/** People are asked about a JSON list of new approvals from now on; about nothing if it is null. */
export const asked = (approvals: RawBuilder<unknown>) => sql`pending_approvals =
  (select jsonb_agg(a || jsonb_build_object('expires_at', null,
    'requested_at', to_char(platform_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
  from jsonb_array_elements(${approvals}) a)`;

/** Nothing waits for a person any more. */
const nothingAsked = sql`pending_approvals = null`;

/** Nothing is left of earlier attempts. */
const forgotten = [
  sql`attempts = 0`,
  sql`not_before = null`,
  nothingAsked,
  sql`decisions = null`,
  sql`unsafe_calls = null`,
  sql`tokens_before = 0`,
];

/** Returns the assignments of what people decide about runs of a kind. */
export const approvalsOf = <Row extends RunRow>(kind: RunKind<Row>) => {
  const { word } = sqlOf(kind);
  return {
    nothingAsked,
    forgotten,
    /** The assignments of a run that a person continues: attempts and the budget of tokens begin again. */
    decided: (decisions: readonly StoredDecision[]) => [
      sql`attempts = 0`,
      sql`not_before = null`,
      nothingAsked,
      sql`decisions = ${decisions.length > 0 ? json(decisions) : null}::jsonb`,
      // Each was decided on. After another end, the next attempt reports them to the model.
      sql`unsafe_calls = case when w.status = ${word('INDETERMINATE')} then null else w.unsafe_calls end`,
      sql`tokens_before = coalesce((w.usage ->> 'input_tokens')::bigint + (w.usage ->> 'output_tokens')::bigint, 0)`,
    ],
  };
};
