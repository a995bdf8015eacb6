import { page } from '../../routing/page.ts';
import { conversationSearch } from './search.ts';

export const conversationsPages = [
  page({
    path: '/agents/$agentId/conversations/$conversationId',
    search: conversationSearch,
    operation: 'getConversation',
    component: [() => import('./ConversationPage.tsx'), 'ConversationPage'],
  }),
] as const;
