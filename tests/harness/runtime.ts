import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Attributes, Span } from '@opentelemetry/api';
import { sql } from 'kysely';
import type { Database, Tx } from '../../src/database/index.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createLlmConfigurations } from '../../src/llm-configurations/index.ts';
import { createLlm } from '../../src/llm-configurations/llm-configurations.ts';
import { createLlmSettings } from '../../src/llm-configurations/settings.ts';
import { builtInTools, type Tool } from '../../src/runtime/tools.ts';
import { workItemSource } from '../../src/runtime/work-item-source.ts';
import { createWorker, type Worker } from '../../src/runtime/worker.ts';
import { createSettings, type Settings } from '../../src/settings/index.ts';
import type { SpanOptions, Tracing } from '../../src/telemetry/index.ts';
import { type WorkItem, workItemCalls } from '../../src/work-items/index.ts';
import { noAccounts } from './accounts.ts';
import type { AgentFields } from './agents.ts';

import { testActor, tester } from './api.ts';
import { silentModels } from './features.ts';
import { testServices } from './services.ts';
import { until } from './wait.ts';
import { itemOf, makeAgent as makeAnyAgent } from './work-items.ts';

export const vault = new Vault([Buffer.alloc(32, 1)]);
export const egress = createEgress({});

export interface RecordedSpan {
  name: string;
  options: SpanOptions;
  attributes: Attributes;
  failed: boolean;
  ended: boolean;
  traceId: string;
  parent: RecordedSpan | null;
}

/** Keeps the spans in memory, in the order in which they began. */
export class Recorder implements Tracing {
  readonly spans: RecordedSpan[] = [];
  readonly #current = new AsyncLocalStorage<RecordedSpan>();

  async withSpan<T>(name: string, options: SpanOptions, fn: (span: Span) => T | Promise<T>): Promise<T> {
    const parent = this.#current.getStore() ?? null;
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    const attributes = { ...options.attributes };
    const span: RecordedSpan = { name, options, attributes, failed: false, ended: false, traceId, parent };
    this.spans.push(span);
    const handle = {
      spanContext: () => ({ traceId, spanId: traceId.slice(0, 16), traceFlags: 1 }),
      setAttribute: (key: string, value: string) => void Object.assign(attributes, { [key]: value }),
      setAttributes: (more: Attributes) => void Object.assign(attributes, more),
      setStatus: () => {
        span.failed = true;
      },
    } as unknown as Span;
    try {
      return await this.#current.run(span, () => fn(handle));
    } finally {
      span.ended = true;
    }
  }
  traceId = () => this.#current.getStore()?.traceId ?? null;
  traceparent = () => null;
  ended = () => {};

  /** The spans of the agent in one trace. */
  of(traceId: string | null): RecordedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId && !span.options.application);
  }
}

/** A tool that may be called without asking, with any object. */
export const fakeTool = (
  name: string,
  call: Tool['call'],
  more: Partial<Omit<Tool, 'name' | 'call'>> = {},
): Tool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  idempotent: false,
  policy: 'allow',
  serverId: null,
  definitionHash: null,
  check: () => null,
  call,
  ...more,
});

export interface TestRuntime extends Worker {
  tracing: Recorder;
  finished: string[];
}

/** A worker like that of one replica. It listens and is not started. */
export const newRuntime = async (
  db: Database,
  {
    settings = {},
    tools = [],
    flush = async () => {},
    graceMs = 0,
  }: {
    settings?: Partial<Settings>;
    tools?: Tool[];
    flush?: () => Promise<void>;
    graceMs?: number;
  } = {},
): Promise<TestRuntime> => {
  const watched = createSettings(db, silentLogger);
  await watched.start();
  const tracing = new Recorder();
  const finished: string[] = [];
  const current = { ...watched, get: () => ({ ...watched.get(), ...settings }) };
  const deps = {
    db,
    llms: createLlmConfigurations(testServices(db, { vault }), { models: silentModels }),
    egress,
    accounts: noAccounts,
    log: silentLogger,
    settings: current,
    tracing,
    flush,
    graceMs,
    openTools: async () => ({
      tools: [...builtInTools, ...tools],
      [Symbol.asyncDispose]: async () => {},
    }),
  };
  const source = workItemSource(deps, (status) => finished.push(status));
  const worker = createWorker(deps, source);
  worker.listen();
  return { ...worker, tracing, finished };
};

/** Inserts a Worker agent with low limits, without the API. Returns its id. */
export const makeAgent = (db: Database, fields: AgentFields = {}): Promise<string> =>
  makeAnyAgent(db, {
    name: 'Reporter',
    instructions: 'Be brief.',
    max_concurrency: 100,
    timeout_seconds: 60,
    max_steps: 5,
    ...fields,
  });

export const makeItem = (db: Database, agentId: string, mock?: unknown): Promise<WorkItem> =>
  db.tx((tx) =>
    workItemCalls.create(tx, {
      agentId,
      scheduleId: null,
      workItemName: 'Report',
      message: 'Write the report',
      payload: mock === undefined ? {} : { mock },
      draft: false,
      principal: tester,
    }),
  );

/** Resolves to the Work Item as soon as it has this status. */
export const becomes = (
  db: Database,
  id: string,
  status: WorkItem['status'],
  timeoutMs = 10_000,
): Promise<WorkItem> =>
  until(async () => {
    const item = await itemOf(db, id);
    return item.status === status && item;
  }, timeoutMs);

/** Its conversation as `role: text`, a tool call as `→tool`. */
export const conversationOf = async (db: Database, item: WorkItem): Promise<string[]> => {
  const messages = await db.run((reader) =>
    workItemCalls.listMessages(reader, item.id, item.conversation_id),
  );
  return messages.map(({ role, content }) => {
    const parts = content.map((part) => (part.type === 'tool_call' ? `→${part.tool_name}` : part.text));
    return [`${role}:`, ...parts].join(' ').trim();
  });
};

/** The history, oldest first: `action→status`. */
export const historyOf = async (db: Database, id: string): Promise<string[]> => {
  const { rows } = await db.run((reader) =>
    sql<{ action: string; to_status: string }>`select action, to_status from work_item_events
      where work_item_id = ${id} order by seq`.execute(reader),
  );
  return rows.map((row) => `${row.action}→${row.to_status}`);
};

/** Notifies the workers, as a write does. */
const notifyWorkers = (tx: Tx) => sql`select pg_notify('work_items', '')`.execute(tx);

/** Makes a lease look expired, as if the worker had sent no heartbeat for so long. */
export const loseLease = async (db: Database, id: string): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`update work_items set lease_expires_at = platform_now() - interval '1 second'
      where id = ${id} and status = 'EXECUTING'`.execute(tx);
    await notifyWorkers(tx);
  });
};

/** Ends the pause before a retry. */
export const endPause = async (db: Database, id: string): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`update work_items set not_before = null where id = ${id}`.execute(tx);
    await notifyWorkers(tx);
  });
};

/** Creates a configuration for the endpoint at `url`; returns its id. */
export const makeLlm = async (db: Database, url: string, apiKey: string): Promise<string> => {
  const fields = { name: 'Ours', model: 'model-1', base_url: url, api_key: apiKey };
  const actor = testActor;
  return (
    await db.tx((tx) =>
      createLlm(tx, actor, createLlmSettings(vault), { kind: 'openai_compatible', ...fields }),
    )
  ).id;
};
