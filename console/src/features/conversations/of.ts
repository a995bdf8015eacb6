import type { Params } from '../../api/index.ts';

/** Which conversation, of which agent. */
export type Of = Params<'getConversation'>;
