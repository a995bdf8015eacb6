import { notify, type Tx } from '../database/index.ts';

/** The channel that notifies replicas when a key, a session or a person may do less or more than before. */
export const accessChannel = 'api_keys';

/** Notifies every replica, when `tx` commits, that what it has cached of keys and sessions may be wrong. */
export const notifyAccessChanged = (tx: Tx): Promise<void> => notify(tx, accessChannel);
