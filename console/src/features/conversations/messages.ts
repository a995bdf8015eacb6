import { addressOf } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import type { ShownMessage } from '../../messages/index.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import type { Draft } from './drafts.ts';
import type { ConversationParams } from './params.ts';

export type StoredMessage = ConversationDetail['messages']['data'][number];

/**
 * The messages as they are shown, the oldest first: those that are stored (`stored` is newest first), and after them
 * what is being written.
 */
export const toShown = (
  params: ConversationParams,
  agentName: string,
  stored: readonly StoredMessage[],
  drafts: readonly Draft[],
): ShownMessage[] => {
  const written = new Set(drafts.map(({ id }) => id));
  const shown = stored.toReversed().map(({ id, role, content, created_at, cut, bytes, author_name }) => ({
    id,
    role,
    content,
    created_at,
    live: written.has(id),
    whole: cut
      ? { bytes, href: addressOf('downloadConversationMessage', { ...params, message_id: id }) }
      : undefined,
    author: role === 'user' ? (author_name ?? words.person) : role === 'tool' ? words.tools : agentName,
  }));
  const ids = new Set(stored.map(({ id }) => id));
  const open = drafts
    .filter(({ id }) => !ids.has(id))
    .map(({ id, text, at }) => ({
      id,
      role: 'assistant' as const,
      content: [{ type: 'text' as const, text }],
      created_at: at,
      author: agentName,
      live: true,
    }));
  return [...shown, ...open];
};
