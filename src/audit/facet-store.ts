import { type Executor, type RawBuilder, sql } from '../database/index.ts';

/** Who did something. */
export interface AuditPrincipal {
  kind: string;
  id: string;
  name: string;
}

/** The values that the entries have. */
export interface AuditFacets {
  actions: string[];
  principals: AuditPrincipal[];
  target_types: string[];
}

/** A log with more principals shows so many. */
const most = 1_000;

/** Selects each value that a column has, by one look into its index for each, however many entries have it. */
const valuesOf = (name: 'action' | 'principal_id' | 'target_type'): RawBuilder<unknown> => {
  const value = sql.ref(name);
  return sql`with recursive used as (
      (select ${value} as value from audits order by ${value} limit 1)
      union all
      select (select a.${value} from audits a where a.${value} > used.value order by a.${value} limit 1)
      from used where used.value is not null
    ) select value from used where value is not null limit ${most}`;
};

const listValues = async (executor: Executor, name: 'action' | 'target_type'): Promise<string[]> => {
  const { rows } = await sql<{ value: string }>`${valuesOf(name)}`.execute(executor);
  return rows.map(({ value }) => value);
};

/** Those who did something, with the names that they had last. */
const listPrincipals = async (executor: Executor): Promise<AuditPrincipal[]> => {
  const { rows } = await sql<AuditPrincipal>`
    select last.kind, used.value as id, last.name from (${valuesOf('principal_id')}) used cross join lateral (
      select principal_kind as kind, principal_name as name from audits where principal_id = used.value
      order by principal_id desc, id desc limit 1
    ) last order by lower(last.name), used.value`.execute(executor);
  return rows;
};

/** Returns the actions, those who did them, and the kinds of what they were done to. */
export const findFacets = async (executor: Executor): Promise<AuditFacets> => ({
  actions: await listValues(executor, 'action'),
  principals: await listPrincipals(executor),
  target_types: await listValues(executor, 'target_type'),
});
