import type { Params } from '../../api/index.ts';

export type ConversationParams = Params<'getConversation'>;
