import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { admitted, arrive } from '../harness/people.ts';
import { type Fixture, newKey, ok, query } from './fixture.ts';

export interface TestPerson {
  id: string;
  /** A personal key. */
  keyId: string;
  value: string;
}

/** Inserts an active person with a personal key, because only a person can create the first one. */
export const newPerson = async (at: Fixture, role = 'builder'): Promise<TestPerson> => {
  const [id, keyId] = [newId(), newId()];
  const { value, id: model } = await newKey(at, 'member');
  await query(
    at,
    sql`insert into users (id, issuer, subject, name, role, last_confirmed_at)
      values (${id}, 'https://id.example', ${id}, 'Ada', ${role}, platform_now())`,
  );
  // The value of a service account's key becomes that of a personal key.
  await query(
    at,
    sql`with gone as (delete from api_keys where id = ${model} returning value_hash, prefix)
      insert into api_keys (id, name, kind, user_id, value_hash, prefix, created_by)
      select ${keyId}, 'hers', 'personal', ${id}, value_hash, prefix, ${id} from gone`,
  );
  return { id, keyId, value };
};

let people = 0;
/** Signs in a new person to whom a mapping gives the role. */
export const mapped = async (at: Fixture, role = 'member', claims: object = {}) => {
  const subject = `mapped-${++people}`;
  await at.api.post('/role-mappings', { claim: 'team', value: `a ${role}`, role });
  const email = `${subject}@example.com`;
  const { id } = await admitted(
    arrive(at.db, subject, { team: `a ${role}`, email, email_verified: true, ...claims }),
  );
  return { id, subject, email };
};

/** The audit entries of a person, newest first, without their places in the chain, which a loop fills in. */
export const auditsOf = async (at: Fixture, id: string) =>
  (await ok(at.api.get(`/audits?target_type=user&target_id=${id}&limit=100`))).data.map((entry: object) => ({
    ...entry,
    position: undefined,
    hash: undefined,
  }));
/** The number of sessions of a person. */
export const sessionsOf = async (at: Fixture, id: string) =>
  (await query(at, sql`select id from sessions where user_id = ${id}`)).length;
