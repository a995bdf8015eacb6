import { randomBytes } from 'node:crypto';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';
import type { StoredRequest } from '../../src/traces/packing.ts';

const models = ['gpt-5.2', 'claude-sonnet-5', 'gemini-3-pro', 'mistral-large-4'];
const tools = ['search', 'read_file', 'send_mail', 'query', 'book', 'pay', 'look_up', 'translate'];
const errors = ['timeout', 'rate_limited', 'tool_error'];
const agents = Array.from({ length: 20 }, (_, i) => `019a0000-0000-7000-8000-${String(i).padStart(12, '0')}`);
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
const count = (most: number): number => Math.floor(Math.random() ** 2 * most);

const millisecond = 1_000_000n;

/** The spans of one run of an agent without content: the run, calls of its model and of its tools in turn. */
export const traceOf = (spans: number, startMs: number): TestSpan[] => {
  const [agent, model, traceId, rootId] = [
    Math.floor(Math.random() * agents.length),
    pick(models),
    hex(16),
    hex(8),
  ];
  const start = BigInt(startMs) * millisecond + BigInt(count(1_000_000));
  const shared = {
    'gen_ai.agent.id': agents[agent]!,
    'gen_ai.agent.version': '3',
    'gen_ai.conversation.id': `019b${hex(2)}-${hex(2)}-7${hex(1)}0-8${hex(1)}0-${hex(6)}`,
  };
  let at = start + millisecond;
  const children = Array.from({ length: spans - 1 }, (_, i): TestSpan => {
    const took = BigInt(5 + count(4_000)) * millisecond + BigInt(count(1_000_000));
    const own = { traceId, spanId: hex(8), parentSpanId: rootId, start: at, end: at + took };
    at += took + millisecond;
    const failed = Math.random() < 0.01 ? { error: 'it failed' } : {};
    const type = 'error' in failed ? { 'error.type': pick(errors) } : {};
    if (i % 2 === 1) {
      const name = pick(tools);
      return {
        ...own,
        ...failed,
        name: `execute_tool ${name}`,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': name,
          'gen_ai.tool.call.id': `call_${hex(6)}`,
          'gen_ai.tool.type': 'function',
          ...shared,
          ...type,
        },
      };
    }
    return {
      ...own,
      ...failed,
      name: `chat ${model}`,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': model,
        'gen_ai.response.model': model,
        'gen_ai.response.id': `resp_${hex(12)}`,
        'gen_ai.response.finish_reasons': [i === spans - 2 ? 'stop' : 'tool_calls'],
        'gen_ai.usage.input_tokens': 200 + count(20_000),
        'gen_ai.usage.output_tokens': 5 + count(2_000),
        'gen_ai.usage.cache_read.input_tokens': count(4_000),
        'agent_platform.cost.nano_usd': 10_000 + count(50_000_000),
        ...shared,
        ...type,
      },
    };
  });
  const root: TestSpan = {
    traceId,
    spanId: rootId,
    name: `invoke_agent Agent ${agent}`,
    start,
    end: at,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.name': `Agent ${agent}`,
      'gen_ai.request.model': model,
      ...shared,
    },
  };
  return [...children, root];
};

const resource = {
  'service.name': 'shop',
  'service.version': '2.1.0',
  'service.instance.id': hex(16),
  'telemetry.sdk.language': 'nodejs',
  'telemetry.sdk.name': 'opentelemetry',
  'telemetry.sdk.version': '2.1.0',
  'host.name': 'host-1',
};

/** A request of the spans of an SDK. */
export const requestOf = (spans: TestSpan[]): StoredRequest => ({
  gzip: false,
  spans: spans.length,
  bytes: encodeRequest([{ attributes: resource, scopes: [{ name: 'agents', spans }] }]),
});

/** Requests of about 100 spans with `count` traces of `spans` each, that began within the hours before `endMs`. */
export const requestsOf = (count: number, spans: number, endMs: number, hours = 1): StoredRequest[] => {
  const requests: StoredRequest[] = [];
  let open: TestSpan[] = [];
  for (let i = 0; i < count; i++) {
    open.push(...traceOf(spans, endMs - Math.floor(((count - i) / count) * hours * 3_600_000)));
    if (open.length < 100 && i < count - 1) continue;
    requests.push(requestOf(open));
    open = [];
  }
  return requests;
};
