import { openEventStream } from '../harness/event-stream.ts';
import type { Client } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { type Fixture, newAgent, ok } from './fixture.ts';

/** A message that scripts the mock model. */
export const scripted = (mock: object, text = 'Hello'): string =>
  `${text}\n\nPayload (JSON):\n${JSON.stringify({ mock })}`;

/** A conversational agent. */
export const newTalker = (at: Fixture, fields: object = {}) =>
  newAgent(at, { mode: 'conversational', name: 'Talker', ...fields });

interface Wanted {
  /** The agent; a new one unless it is given. */
  agentId?: string;
  /** Who talks; the administrator unless it is given. */
  client?: Client;
  key?: string;
}

/** A new conversation, and what is done with it. */
export const newConversation = async (
  at: Fixture,
  { agentId, client = at.api, key = adminKey }: Wanted = {},
) => {
  const agent = agentId ?? (await newTalker(at)).id;
  const { id } = await ok(client.post(`/agents/${agent}/conversations`, {}));
  const path = `/agents/${agent}/conversations/${id}`;
  const url = (on: Fixture) => `${on.test.origin}/api/v2${path}/stream`;
  return {
    id,
    path,
    get: () => ok(client.get(path)),
    send: (body: object) => ok(client.post(`${path}/messages`, body)),
    stream: (body: object, on = at) => openEventStream(url(on), { key, body }),
    follow: (lastEventId?: number | string, on = at) => openEventStream(url(on), { key, lastEventId }),
  };
};
