import type { Params } from '../../api/index.ts';

export type Of = Params<'getConversation'>;
