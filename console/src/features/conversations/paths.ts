import { path } from '../../api/index.ts';

/** Which conversation, of which agent. */
export interface Of {
  agentId: string;
  id: string;
}

/** What the page reads. */
export const detailPath = ({ agentId, id }: Of): string =>
  path`/app/api/agents/${agentId}/conversations/${id}`;
export const messagesPath = (of: Of): string => `${detailPath(of)}/messages`;
export const contentPath = (of: Of, messageId: string): string =>
  `${messagesPath(of)}/${encodeURIComponent(messageId)}/content`;

/** The lists of an agent's conversations. */
export const listPath = (agentId: string): string => path`/api/v2/agents/${agentId}/conversations`;
/** What the page changes and follows. */
export const publicPath = ({ agentId, id }: Of): string =>
  path`/api/v2/agents/${agentId}/conversations/${id}`;
export const sendPath = (of: Of): string => `${publicPath(of)}/messages`;
export const streamPath = (of: Of): string => `${publicPath(of)}/stream`;
export const cancelPath = (of: Of): string => `${publicPath(of)}/cancel`;
