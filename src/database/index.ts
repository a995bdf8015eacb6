export {
  type Generated,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
  type UpdateType,
} from 'kysely';
export { advisoryLock, advisoryRowLock, tryAdvisoryLock } from './advisory-lock.ts';
export {
  type Database,
  databaseNow,
  type Executor,
  type Json,
  json,
  notify,
  outsideTransaction,
  type Table,
  type Tx,
} from './database.ts';
export { openEmbedded } from './embedded.ts';
export { folderFault } from './folder-faults.ts';
export { lockFolder } from './folder-lock.ts';
export { migrate } from './migrations.ts';
export { planEachTime, sentWithNext } from './naming-pool.ts';
export { offlineDatabase } from './offline.ts';
export { everything, type Page, selectPage } from './pages.ts';
export { ListenFailure, openPostgres } from './postgres.ts';
export { prepared } from './prepared.ts';
export { isRowFault, sqlStateOf } from './row-faults.ts';
export { instant, spanOf } from './times.ts';
