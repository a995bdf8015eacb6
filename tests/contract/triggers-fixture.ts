import { randomUUID } from 'node:crypto';
import type { ClientResponse } from '../harness/http.ts';
import { signed } from '../harness/webhook-sender.ts';
import { type Fixture, newAgent, ok } from './fixture.ts';

export { signed };

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export const newTrigger = async (at: Fixture, agentId: string, fields: object = {}): Promise<Json> =>
  ok(
    at.api.post(`/agents/${agentId}/triggers`, {
      name: `trigger ${randomUUID()}`,
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      ...fields,
    }),
  );

/** A trigger, with an external agent: its Work Items stay PENDING. */
export const newHook = async (at: Fixture, fields: object = {}): Promise<Json> => {
  const agent = await newAgent(at, { execution: 'external' });
  return newTrigger(at, agent.id, fields);
};

export const post = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<ClientResponse> => {
  const response = await fetch(url, { method: 'POST', body, headers });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  } as ClientResponse;
};

/** Sends an event of Standard Webhooks. Resolves to the id of its entry. */
export const send = async (
  trigger: Json,
  value: unknown,
  { id = randomUUID(), headers = {} }: { id?: string; headers?: Record<string, string> } = {},
): Promise<string> => {
  const body = JSON.stringify(value);
  const { occurrence_id } = await ok(
    post(trigger.url, body, { ...signed(trigger.secret, body, id), ...headers }),
    202,
  );
  return occurrence_id;
};

export const eventsOf = async (at: Fixture, trigger: Json, query = ''): Promise<Json[]> =>
  (await ok(at.app.get(`/agents/${trigger.agent_id}/triggers/${trigger.id}/events${query}`))).data;

export const itemsOf = async (at: Fixture, trigger: Json): Promise<Json[]> =>
  (await ok(at.api.get(`/work-items?trigger_id=${trigger.id}&limit=200`))).records;
