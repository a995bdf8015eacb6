import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { foreignPostgres } from '../harness/foreign.ts';
import type { Client } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { upload } from './files-fixture.ts';
import { type Fixture, newAgent, newKey, newSchedule, ok, query, unknownId } from './fixture.ts';
import { newTrigger, send } from './triggers-fixture.ts';

/** Tests of what all operations have in common take them from the OpenAPI documents, and their resources from here. */

export const bases = ['/api/v2', '/api/v1', '/app/api'] as const;
export type Base = (typeof bases)[number];

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, read field by field
export type Schema = any;

export interface Operation {
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  base: Base;
  path: string;
  /** The names in its path. */
  ids: string[];
  query: { name: string; required: boolean; schema: Schema }[];
  headers: string[];
  /** The media types of its body. */
  bodies: string[];
  /** The OpenAPI document, for references. */
  document: Schema;
  /** The schema of its JSON body. */
  schema: Schema | undefined;
  requiredRole: string | undefined;
  responses: Record<string, { headers?: object; content?: Record<string, { schema: Schema }> }>;
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: Schema;
}

/** `schema` with its reference into `document` followed. */
export const follow = (document: Schema, schema: Schema): Schema =>
  schema?.$ref ? follow(document, document.components.schemas[schema.$ref.split('/').at(-1)]) : schema;

/** The committed documents: what they promise is tested, and a promise that changes shows in a review. */
const committed: Partial<Record<Base, string>> = {
  '/api/v2': 'openapi.json',
  '/app/api': 'openapi-app.json',
};

/** The operations of these bases. Those below /api/v1 have the handlers of /api/v2, and most tests need them once. */
export const operationsOf = async (
  at: Fixture,
  of: readonly Base[] = ['/api/v2', '/app/api'],
): Promise<Operation[]> => {
  const all: Operation[] = [];
  for (const base of of) {
    const file = committed[base];
    const document = file
      ? JSON.parse(await readFile(join(import.meta.dirname, '../..', file), 'utf8'))
      : (await at.as(undefined, base).get('')).body;
    for (const [path, methods] of Object.entries<Record<string, Schema>>(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId, parameters = [], requestBody, responses } = operation;
        const named = (place: string): Parameter[] => parameters.filter((one: Parameter) => one.in === place);
        const content = requestBody?.content ?? {};
        all.push({
          id: operationId,
          method: method.toUpperCase() as Operation['method'],
          base,
          path,
          ids: named('path').map(({ name }) => name),
          query: named('query').map(({ name, required = false, schema }) => ({ name, required, schema })),
          headers: named('header').map(({ name }) => name),
          document,
          bodies: Object.keys(content),
          schema: follow(document, content['application/json']?.schema),
          responses,
          requiredRole: operation['x-required-role'],
        });
      }
    }
  }
  return all;
};

type Ids = Record<string, string>;

export interface Resources extends AsyncDisposable {
  /** The address of an operation below its base. `over` names what takes the place of ids that exist, as it is sent. */
  address(operation: Operation, over?: Ids): string;
  /** What paths mean by a name, unless they are of what `address` knows better. */
  known: Ids;
  /** The id of another agent of the same mode, conversation, Work Item or tool server, for this name in the path. */
  other(operation: Operation, name: string): string;
  client(operation: Operation): Client;
  /** An agent whose Work Items external workers execute, and a draft of it. */
  external: { agentId: string; workItemId: string };
}

/** The id of a new review: of a Work Item that an external worker has a question about. */
export const newReview = async ({ api }: Pick<Fixture, 'api'>): Promise<string> => {
  const agent = await ok(api.post('/agents', { name: 'asks', mode: 'worker', execution: 'external' }));
  await ok(api.post('/work-items', { agent_id: agent.id }));
  const [claimed] = (await ok(api.post('/work-items/claim', { agent_ids: [agent.id] }))).records;
  const path = `/work-items/${claimed.work_item.id}/finish`;
  const { lease_token } = claimed;
  const review = { reason: 'Is it right?' };
  return (await ok(api.post(path, { lease_token, outcome: 'NEEDS_REVIEW', review }))).review_id;
};

/** Makes one of each resource, and another of those that hold some. */
export const oneOfEach = async (at: Fixture): Promise<Resources> => {
  const { api, app } = at;
  const agent = await newAgent(at);
  // Its version 2: other agents have none.
  await ok(api.patch(`/agents/${agent.id}`, { instructions: 'second' }));
  const [publication] = (await ok(api.get(`/agents/${agent.id}/publications`))).data;
  const schedule = await newSchedule(at, agent.id);
  const trigger = await newTrigger(at, agent.id, { filter: 'false' });
  const occurrenceId = await send(trigger, {});
  const integration = await ok(
    api.post('/observability/integrations', {
      version: '1',
      settings: { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces' },
    }),
    201,
  );
  const callbacks = [{ url: 'http://127.0.0.1:9/', events: ['work_item.pending'] }];
  const item = await ok(api.post('/work-items', { agent_id: agent.id, callbacks }));
  const [message] = await query(
    at,
    sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content)
      values (new_id(), ${item.id}, ${item.id}, 'user', '"x"') returning id`,
  );
  const bulk = await ok(app.post('/work-items/actions', { action: 'submit', ids: [item.id] }));
  const [delivery] = (await ok(api.get(`/work-items/${item.id}/callbacks`))).data;
  const key = await newKey(at, 'member');
  const user = await ok(api.post('/users', { email: 'known@example.com', role: 'member' }));
  const mapping = await ok(api.post('/role-mappings', { claim: 'groups', value: 'known', role: 'member' }));
  const llm = await ok(api.post('/llm-configurations', { kind: 'mock', name: 'known', model: 'mock' }));
  const price = await ok(api.post('/prices', { model: 'known', rates: { input: 1, output: 2 } }));
  const tools = await startToolServer();
  const [server, otherServer] = [
    await ok(api.post('/tool-servers', { name: 'known', url: tools.url })),
    await ok(api.post('/tool-servers', { name: 'other', url: 'http://127.0.0.1:1/mcp' })),
  ];
  const talker = await newAgent(at, { name: 'talker', mode: 'conversational' });
  const newTalk = (agentId: string) => ok(api.post(`/agents/${agentId}/conversations`, {}));
  const conversation = await newTalk(talker.id);
  // Both kinds of messages have the same id here, because paths have the same name for it.
  await query(
    at,
    sql`insert into conversation_messages (conversation_id, id, run_id, role, content)
      values (${conversation.id}, ${message.id}, new_id(), 'user', '[{"type":"text","text":"x"}]')`,
  );
  const newDraft = (agentId: string) => ok(api.post('/work-items', { agent_id: agentId, draft: true }));
  const draft = await newDraft(agent.id);
  /** A file with its data frame; resolves to the id of the file. */
  const fileIn = async (path: string): Promise<string> => {
    const { id } = await upload(api, path, 'known.csv', 'a\n1');
    await ok(api.post(`${path}/data-frames`, { source: { kind: 'file', file_id: id } }));
    return id;
  };
  const fileId = await fileIn(`/agents/${talker.id}/conversations/${conversation.id}`);
  const draftFileId = await fileIn(`/work-items/${draft.id}`);
  const foreign = await foreignPostgres(inject('postgresUrl'), 'create table t (id integer primary key)');
  const connection = await ok(
    api.post('/data-connections', { name: 'x', engine: 'postgres', configuration: foreign.settings }),
  );
  const events = await ok(
    api.post('/event-connections', { name: 'known', kind: 'nats', settings: { servers: ['127.0.0.1:9'] } }),
  );
  const channel = await ok(
    api.post('/channels', { name: 'known', kind: 'webhook', url: 'http://127.0.0.1:9/' }),
  );
  const route = await ok(
    api.post('/routes', {
      name: 'known',
      for: 'reviews',
      match: { tools: ['no such tool'] },
      steps: [{ channel_id: channel.id, to: 'channel' }],
    }),
  );
  const dataModel = await ok(
    api.post('/semantic-data-models/scaffold-from-tables', {
      data_connection_id: connection.id,
      tables: [{ table: 't' }],
      save: true,
    }),
  );
  await ok(api.put('/document-intelligence', { provider: 'embedded', configuration: {} }));
  const extraction = await ok(
    api.post('/document-intelligence/extract', {
      file: { agent_id: talker.id, conversation_id: conversation.id, file_id: fileId },
      schema: { type: 'object', properties: { a: { type: 'string' } } },
    }),
  );
  const [dataset, otherDataset] = [
    await ok(api.post('/datasets', { name: 'known' })),
    await ok(api.post('/datasets', { name: 'other' })),
  ];
  const newCase = await ok(
    api.post(`/datasets/${dataset.id}/cases`, { name: 'known', input: { message: 'x' } }),
  );
  const graders = [{ type: 'human', question: 'Is it good?' }];
  const tested = { agent_id: agent.id, dataset_id: dataset.id, graders };
  const [experiment, otherExperiment] = [
    await ok(api.post('/experiments', tested)),
    await ok(api.post('/experiments', tested)),
  ];
  await until(async () => (await ok(api.get(`/experiments/${experiment.id}`))).state === 'done');
  const [trial] = (await ok(api.get(`/experiments/${experiment.id}/trials`))).data;
  const traceIds: string[] = [];
  for (let i = 0; i < 2; i++) {
    const { id } = await ok(api.post('/work-items', { agent_id: agent.id, message: 'traced' }));
    await until(async () => (await ok(api.get(`/work-items/${id}`))).status === 'COMPLETED');
    traceIds.push((await ok(api.get(`/work-items/${id}/trace`))).trace_id);
  }
  for (const id of traceIds) await until(async () => (await api.get(`/traces/${id}`)).status === 200);
  const [span] = (await ok(api.get(`/traces/${traceIds[0]}`))).spans;
  const budget = await ok(
    api.post('/budgets', {
      name: 'known',
      scope: { kind: 'workspace' },
      unit: 'tokens',
      limit: 9e15,
      period: 'total',
    }),
  );
  const rule = await ok(api.post('/alert-rules', { name: 'known', kind: 'missed', agent_id: agent.id }));
  const [firing] = await query(
    at,
    sql`insert into alerts (rule_id, kind, severity, title, detail, cause_at)
      values (${rule.id}, 'missed', 'error', 'x', 'x', platform_now()) returning id`,
  );
  const worker = await newAgent(at, { name: 'worker', execution: 'external' });
  const left = await newDraft(worker.id);
  await ok(at.as(undefined, '/app/api').post('/sessions', { api_key: adminKey }));
  const session = (await ok(app.get('/sessions'))).data[0];

  const known: Ids = {
    agent_id: agent.id,
    version: '2',
    publication_id: publication.id,
    schedule_id: schedule.id,
    trigger_id: trigger.id,
    occurrence_id: occurrenceId,
    conversation_id: conversation.id,
    work_item_id: item.id,
    message_id: message.id,
    delivery_id: delivery.id,
    bulk_id: bulk.bulk_id,
    file_id: fileId,
    frame: 'known',
    extraction_id: extraction.id,
    dataset_id: dataset.id,
    case_id: newCase.id,
    experiment_id: experiment.id,
    trial_id: trial.id,
    budget_id: budget.id,
    alert_rule_id: rule.id,
    alert_id: firing.id,
    grader: 'human',
    integration_id: integration.id,
    review_id: await newReview(at),
    trace_id: traceIds[0]!,
    span_id: span.span_id,
    llm_id: llm.id,
    price_id: price.id,
    tool_server_id: server.id,
    tool: 'echo',
    data_connection_id: connection.id,
    event_connection_id: events.id,
    channel_id: channel.id,
    route_id: route.id,
    semantic_data_model_id: dataModel.id,
    user_id: user.id,
    role_mapping_id: mapping.id,
    api_key_id: key.id,
    session_id: session.id,
  };
  /** What a path means by a name, if that differs from the others. */
  const within: [RegExp, Ids][] = [
    [/^\/agents\/\{agent_id\}\/conversations/, { agent_id: talker.id }],
    [
      /^\/work-items\/\{work_item_id\}($|\/files|\/data-frames)/,
      { work_item_id: draft.id, file_id: draftFileId },
    ],
    [/^\/work-items\/\{work_item_id\}\/(heartbeat|finish)$/, { work_item_id: left.id }],
  ];
  const otherTalker = await newAgent(at, { name: 'other talker', mode: 'conversational' });
  const others: Ids = {
    agent_id: (await newAgent(at, { name: 'other' })).id,
    conversation_id: (await newTalk(talker.id)).id,
    work_item_id: (await newDraft(agent.id)).id,
    trigger_id: (await newTrigger(at, agent.id)).id,
    tool_server_id: otherServer.id,
    dataset_id: otherDataset.id,
    experiment_id: otherExperiment.id,
    trial_id: unknownId,
    trace_id: traceIds[1]!,
  };
  return {
    known,
    external: { agentId: worker.id, workItemId: left.id },
    address: ({ path }, over = {}) => {
      const ids = { ...known, ...within.find(([of]) => of.test(path))?.[1], ...over };
      return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
        if (ids[name] === undefined) throw new Error(`No fixture makes a ${name}.`);
        return ids[name];
      });
    },
    other: ({ path }, name) => {
      if (name === 'agent_id' && path.includes('/conversations')) return otherTalker.id;
      if (others[name] === undefined) throw new Error(`No fixture makes another ${name}.`);
      return others[name];
    },
    client: ({ base }) => at.as(adminKey, base),
    [Symbol.asyncDispose]: () => tools[Symbol.asyncDispose](),
  };
};
