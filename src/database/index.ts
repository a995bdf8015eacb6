export { sql } from 'kysely';
export { advisoryLock } from './advisory-lock.ts';
export {
  type Database,
  databaseNow,
  type Executor,
  json,
  notify,
  outsideTransaction,
  type Tx,
} from './database.ts';
export { openEmbedded } from './embedded.ts';
export { lockFolder } from './folder-lock.ts';
export { migrate } from './migrations.ts';
export { openPostgres } from './postgres.ts';
