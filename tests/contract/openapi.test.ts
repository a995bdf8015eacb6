import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { foreignPostgres } from '../harness/foreign.ts';
import { adminKey } from '../harness/process.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { upload } from './files-fixture.ts';
import { newAgent, newKey, newSchedule, ok, query, unknownId, withPlatform } from './fixture.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: object;
  security?: unknown[];
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

/** Whether the body is a form and nothing else. */
const isForm = ({ requestBody }: Operation): boolean => {
  const content = (requestBody as { content?: object } | undefined)?.content ?? {};
  return 'multipart/form-data' in content && !('application/json' in content);
};

describe('the OpenAPI document', () =>
  withPlatform('postgres', (at) => {
    const documentOf = async (base: string) => (await at().test.as(undefined, base).get('')).body;
    const operations = async (): Promise<[string, Operation, string, string][]> => {
      const all: [string, Operation, string, string][] = [];
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        const { paths } = await documentOf(base);
        for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
          for (const [method, operation] of Object.entries(methods))
            all.push([`${method} ${base}${path}`, operation, path, method]);
        }
      }
      return all;
    };

    test('is OpenAPI 3.1, names the release, and says that it is alpha', async () => {
      const document = await documentOf('/api/v2');
      const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
      expect(document.openapi).toMatch(/^3\.1\./);
      expect(document.info.version).toBe(version);
      expect(`${document.info.summary} ${document.info.description}`).toMatch(/alpha/);
    });

    test('no schema has an empty object as its default: some generators of clients leave out the operations that use it', async () => {
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        expect(JSON.stringify(await documentOf(base))).not.toContain('"default":{}');
      }
    });

    test('every operation has a unique operationId, a summary, tags that are described, and its parameters', async () => {
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        const { paths, tags } = await documentOf(base);
        const ids = Object.values<Record<string, Operation>>(paths).flatMap((one) =>
          Object.values(one).map((o) => o.operationId),
        );
        expect(new Set(ids).size).toBe(ids.length);
        for (const tag of tags) expect(tag.description, tag.name).toMatch(/./);
      }
      for (const [name, operation, path] of await operations()) {
        expect(operation.operationId, name).toMatch(/^[a-z][A-Za-z]+$/);
        expect(operation.summary, name).toMatch(/^[A-Z]/);
        expect(operation.tags.length, name).toBe(1);
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
        expect(
          (operation.parameters ?? []).filter((p) => p.in === 'path').map((p) => p.name),
          name,
        ).toEqual(inPath);
      }
    });

    test('every operation names each status that it can respond with, and the schema of its body', async () => {
      for (const [name, operation, path, method] of await operations()) {
        // They speak protocols of their own.
        if (['sendTraces', 'callAgent'].includes(operation.operationId)) continue;
        const statuses = Object.keys(operation.responses);
        // A stream may also have nothing to send.
        const isStream =
          /\/(conversations|work-items)\/\{\w+\}\/stream$/.test(name) && name.startsWith('get');
        const successes = statuses.filter((status) => status < '400' && status !== '304');
        // Or it may send a part of the content, or accept what it does later.
        // Or it names the keys that a deletion ended.
        const endsKeys = ['deleteApiKey', 'deleteUser'].includes(operation.operationId);
        const hasTwo = isStream || endsKeys || statuses.includes('206') || statuses.includes('202');
        expect(successes.length, name).toBe(hasTwo ? 2 : 1);
        const refusals = operation.security?.length === 0 ? ['429'] : ['401', '403', '429'];
        expect(statuses, name).toEqual(expect.arrayContaining([...refusals, '500', '503']));
        if (path.includes('{')) expect(statuses, name).toContain('404');
        // What a form with a file lacks or has too much of is a 400.
        const checked = isForm(operation) ? ['400'] : ['400', '422'];
        if (operation.requestBody) expect(statuses, name).toEqual(expect.arrayContaining(checked));
        // A browser that is sent somewhere brings any query.
        const checksQuery = operation.parameters?.some((p) => p.in === 'query') && !statuses.includes('303');
        if (checksQuery) expect(statuses, name).toContain('422');
        if (/schedules/.test(path)) expect(statuses, name).toContain('400');
        if (method === 'delete') expect(statuses, name).toContain('204');
        for (const [status, { content, description }] of Object.entries(operation.responses)) {
          expect(description, name).toMatch(/./);
          const bodyless = operation.operationId === 'backChannelLogout' ? '200' : '204 303 304';
          if (bodyless.includes(status) || status === '416') expect(content, name).toBeUndefined();
          else if (status >= '400') {
            expect(content?.['application/json']?.schema, name).toEqual({
              $ref: '#/components/schemas/Error',
            });
          } else expect(Object.values(content ?? {})[0]?.schema, name).toBeDefined();
        }
      }
    });

    test('has the operations and success statuses of the product description', async () => {
      const { paths } = await documentOf('/api/v2');
      const integrations = '/observability/integrations';
      const schedules = '/agents/{agent_id}/schedules';
      for (const [method, path, status] of [
        ['get', integrations, 200],
        ['post', integrations, 201],
        ['get', `${integrations}/{integration_id}`, 200],
        ['put', `${integrations}/{integration_id}`, 200],
        ['patch', `${integrations}/{integration_id}`, 200],
        ['delete', `${integrations}/{integration_id}`, 204],
        ['get', `${integrations}/{integration_id}/scopes`, 200],
        ['post', `${integrations}/{integration_id}/scopes`, 201],
        ['delete', `${integrations}/{integration_id}/scopes`, 204],
        ['get', schedules, 200],
        ['post', schedules, 200],
        ['get', `${schedules}/{schedule_id}`, 200],
        ['put', `${schedules}/{schedule_id}`, 200],
        ['delete', `${schedules}/{schedule_id}`, 204],
        ['post', '/api-keys', 201],
      ] as const) {
        expect(Object.keys(paths[path]?.[method]?.responses ?? {}), `${method} ${path}`).toContain(
          String(status),
        );
      }
    });

    test('has the schemas and fields of the product description', async () => {
      const { schemas } = (await documentOf('/api/v2')).components;
      const fields = (name: string) => Object.keys(schemas[name].properties).sort();
      const schedule =
        'agent_id catch_up created_at cron_expression enabled id last_run_at message metadata next_run_at overlap payload timezone updated_at work_item_name';
      expect(fields('PublicSchedule')).toEqual(schedule.split(' '));
      const integration =
        'created_at debug description id is_system kind resolved_url settings updated_at version';
      expect(fields('PublicObservabilityIntegration')).toEqual(integration.split(' '));
      expect(fields('SchedulePage')).toEqual(['data', 'has_more', 'next']);
      expect(fields('WorkItemPage')).toEqual(['next_offset', 'records', 'total_count']);
      expect(fields('AgentPage')).toEqual(['data', 'has_more', 'next']);
      expect(schemas.PublicSchedule.required.sort()).toEqual(schedule.split(' '));
    });

    test('bodies name what is required, and the defaults of the rest', async () => {
      const { paths, components } = await documentOf('/api/v2');
      const body = (path: string, method: string) => {
        const { schema } = paths[path][method].requestBody.content['application/json'];
        return schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema;
      };
      expect(body('/agents/{agent_id}/schedules', 'post').required).toEqual(['cron_expression']);
      expect(body('/agents/{agent_id}/schedules/{schedule_id}', 'put').required).toEqual(['cron_expression']);
      expect(body('/observability/integrations', 'post').required.sort()).toEqual(['settings', 'version']);
      expect(body('/observability/integrations/{integration_id}', 'put').required ?? []).toEqual([]);
      expect(body('/agents', 'post').required.sort()).toEqual(['mode', 'name']);
      const defaults = (path: string, method: string) =>
        Object.entries<{ default?: unknown }>(body(path, method).properties).flatMap(([name, field]) =>
          'default' in field ? [[name, field.default]] : [],
        );
      const ofSchedule = { timezone: 'UTC', catch_up: true, overlap: 'queue', message: '' };
      expect(Object.fromEntries(defaults('/agents/{agent_id}/schedules', 'post'))).toEqual(ofSchedule);
      expect(Object.fromEntries(defaults('/observability/integrations', 'post'))).toEqual({
        is_system: false,
        debug: false,
      });
    });

    test('every operation exists as it is described, and its responses match their schemas', async () => {
      const agent = await newAgent(at());
      const schedule = await newSchedule(at(), agent.id);
      const integration = await ok(
        at().api.post('/observability/integrations', {
          version: '1',
          settings: { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces' },
        }),
        201,
      );
      const callbacks = [{ url: 'http://127.0.0.1:9/', events: ['work_item.pending'] }];
      const item = await ok(at().api.post('/work-items', { agent_id: agent.id, callbacks }));
      const [message] = await query(
        at(),
        sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content)
          values (new_id(), ${item.id}, ${item.id}, 'user', '"x"') returning id`,
      );
      const bulk = await ok(at().app.post('/work-items/actions', { action: 'submit', ids: [item.id] }));
      const [delivery] = (await ok(at().api.get(`/work-items/${item.id}/callbacks`))).data;
      const key = await newKey(at(), 'member');
      const user = await ok(at().api.post('/users', { email: 'known@example.com', role: 'member' }));
      const mapping = await ok(
        at().api.post('/role-mappings', { claim: 'groups', value: 'known', role: 'member' }),
      );
      await using tools = await startToolServer();
      const toolServer = await ok(at().api.post('/tool-servers', { name: 'known', url: tools.url }));
      const talker = await newAgent(at(), { name: 'talker', mode: 'conversational' });
      const conversation = await ok(at().api.post(`/agents/${talker.id}/conversations`, {}));
      // Both kinds of messages have the same id here, because paths have the same name for it.
      await query(
        at(),
        sql`insert into conversation_messages (conversation_id, id, run_id, role, content)
          values (${conversation.id}, ${message.id}, new_id(), 'user', '[{"type":"text","text":"x"}]')`,
      );
      const draft = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
      const file = await upload(
        at().api,
        `/agents/${talker.id}/conversations/${conversation.id}`,
        'known.csv',
        'a\n1',
      );
      const ofDraft: Record<string, string> = {
        work_item_id: draft.id,
        file_id: (await upload(at().api, `/work-items/${draft.id}`, 'known.csv', 'a\n1')).id,
      };
      const frameOf = (path: string, fileId: string) =>
        ok(at().api.post(`${path}/data-frames`, { source: { kind: 'file', file_id: fileId } }));
      await frameOf(`/agents/${talker.id}/conversations/${conversation.id}`, file.id);
      await frameOf(`/work-items/${draft.id}`, ofDraft.file_id!);
      const foreign = await foreignPostgres(inject('postgresUrl'), 'create table t (id integer primary key)');
      const connection = await ok(
        at().api.post('/data-connections', {
          name: 'x',
          engine: 'postgres',
          configuration: foreign.settings,
        }),
      );
      const dataModel = await ok(
        at().api.post('/semantic-data-models/scaffold-from-tables', {
          data_connection_id: connection.id,
          tables: [{ table: 't' }],
          save: true,
        }),
      );
      const extraction = await ok(
        at().api.post('/document-intelligence/extract', {
          file: { agent_id: talker.id, conversation_id: conversation.id, file_id: file.id },
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        }),
      );
      const worker = await newAgent(at(), { name: 'worker', execution: 'external' });
      const left = await ok(at().api.post('/work-items', { agent_id: worker.id, draft: true }));
      const ofWorker: Record<string, string> = { work_item_id: left.id };
      const known: Record<string, string> = {
        extraction_id: extraction.id,
        file_id: file.id,
        frame: 'known',
        data_connection_id: connection.id,
        semantic_data_model_id: dataModel.id,
        agent_id: agent.id,
        conversation_id: conversation.id,
        tool_server_id: toolServer.id,
        tool: 'echo',
        schedule_id: schedule.id,
        integration_id: integration.id,
        work_item_id: item.id,
        delivery_id: delivery.id,
        message_id: message.id,
        bulk_id: bulk.bulk_id,
        api_key_id: key.id,
        user_id: user.id,
        role_mapping_id: mapping.id,
        llm_configuration_id: '01980000-0000-7000-8000-000000000001',
        llm_id: '01980000-0000-7000-8000-000000000001',
      };
      for (const base of ['/api/v2', '/api/v1', '/app/api'] as const) {
        const { paths } = await documentOf(base);
        for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
          const isOfWorker = /^\/work-items\/\{work_item_id\}\/(heartbeat|finish)$/.test(path);
          const isOfDraft = /^\/work-items\/\{work_item_id\}\/(files|data-frames)/.test(path);
          const fill = (id?: string) =>
            path
              .replace('{agent_id}/conversations', `${id ?? talker.id}/conversations`)
              .replace(
                /\{(\w+)\}/g,
                (_all, name: string) =>
                  id ??
                  (isOfWorker ? ofWorker[name] : undefined) ??
                  (isOfDraft ? ofDraft[name] : undefined) ??
                  known[name] ??
                  unknownId,
              );
          // What a query must have.
          const needed: Record<string, string> = { at: '2026-01-31T08:00:00Z', than: item.id };
          const required = (methods.get?.parameters ?? []).filter(
            (one) => one.in === 'query' && one.required,
          );
          const queryOf = () => required.map(({ name }) => `${name}=${needed[name]}`).join('&');
          // Whether there is a result depends on what its agent has done by then.
          if ('get' in methods && !path.endsWith('/result')) {
            const one = await at()
              .as(adminKey, base)
              .get(`${fill()}?${queryOf()}`, { headers: { accept: 'application/json' } });
            // A new log has no checkpoint, and this platform no identity provider.
            const isMissing = /\/audits\/checkpoint$|\/sign-in$|\/sign-in\/callback$/.test(path);
            // No run is in progress.
            const isIdle = path.endsWith('/conversations/{conversation_id}/stream');
            const status = isMissing ? 404 : isIdle ? 204 : 200;
            expect(one.status, `${base}${path} ${one.text}`).toBe(status);
            if (path.includes('{'))
              expect((await at().as(adminKey, base).get(fill(unknownId))).status).toBe(404);
          }
          for (const method of ['post', 'put', 'patch'].filter((m) => m in methods)) {
            // The first takes protobuf, the second a form, the third JSON-RPC.
            if (['sendTraces', 'backChannelLogout', 'callAgent'].includes(methods[method]!.operationId))
              continue;
            const send = (body: string) =>
              at()
                .as(adminKey, base)
                .raw(method.toUpperCase(), fill(), body, { headers: { 'content-type': 'application/json' } });
            const takesBody = methods[method]!.requestBody !== undefined;
            for (const [body, statuses] of [
              ['{', takesBody ? [400] : [200, 412]],
              ['[]', takesBody ? [isForm(methods[method]!) ? 400 : 422] : [200, 412]],
              [
                '{"name":5,"settings":5,"cron_expression":5,"scope":5,"reason":5,"message":5}',
                [200, 201, 400, 412, 422],
              ],
            ] as const) {
              const response = await send(body);
              expect(statuses, `${method} ${path} ${body} ${response.text}`).toContain(response.status);
            }
          }
        }
      }
      const seen = new Set([...at().contract.seen].map((one) => one.split(' ')[0]));
      const unseen = Object.values<Record<string, Operation>>((await documentOf('/api/v2')).paths)
        .flatMap((methods) => Object.entries(methods))
        .filter(([method, { operationId }]) => method !== 'delete' && !seen.has(operationId))
        .map(([, { operationId }]) => operationId);
      expect(unseen).toEqual(['sendTraces']);
    }, 240_000);
  }));
