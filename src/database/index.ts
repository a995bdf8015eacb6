export { sql } from 'kysely';
export { takeTurn } from './advisory-lock.ts';
export {
  type Database,
  databaseNow,
  json,
  notify,
  outsideTransaction,
  type Reader,
  type Tx,
} from './database.ts';
export { openEmbedded } from './embedded.ts';
export { lockFolder } from './folder-lock.ts';
export { migrate } from './migrations.ts';
export { openPostgres } from './postgres.ts';
