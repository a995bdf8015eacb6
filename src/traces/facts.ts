/** What a span is, by the semantic conventions for generative AI. */
type SpanType = 'agent' | 'model' | 'tool' | 'other';

/** The facts of a span that lists and waterfalls show. Ids are lower-case hex. Times are in microseconds since 1970. */
export interface SpanFacts {
  traceId: string;
  spanId: string;
  /** '' for a root span. */
  parentSpanId: string;
  name: string;
  /** SpanKind of OpenTelemetry. */
  kind: number;
  startUs: number;
  endUs: number;
  failed: boolean;
  errorType: string | null;
  type: SpanType;
  agentId: string | null;
  agentName: string | null;
  model: string | null;
  tool: string | null;
  tokens: number | null;
  costNanoUsd: number | null;
  workItemId: string | null;
  conversationId: string | null;
  hasContent: boolean;
  events: number;
}

/** Facts of a resource. */
export interface ResourceFacts {
  service: string | null;
  agentId: string | null;
}

/**
 * The attributes that are read. `chat` and others: the conventions of OpenTelemetry for generative AI; `openinference.*`
 * and `operation.cost` are what instrumentations in wide use write besides or instead.
 */
const keys = [
  'gen_ai.operation.name',
  'gen_ai.agent.id',
  'gen_ai.agent.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.tool.name',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.prompt_tokens',
  'gen_ai.usage.completion_tokens',
  'gen_ai.usage.cost',
  'operation.cost',
  'agent_platform.cost.nano_usd',
  'agent_platform.work_item.id',
  'gen_ai.conversation.id',
  'error.type',
  'service.name',
  'exception.type',
  'openinference.span.kind',
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.prompt',
  'gen_ai.completion',
  'input.value',
  'output.value',
] as const;
export type Key = (typeof keys)[number];

/** The keys of what people and models said, of which only its presence is read. */
export const content: ReadonlySet<Key> = new Set(
  keys.filter((key) => keys.indexOf(key) >= keys.indexOf('gen_ai.input.messages')),
);

/** The keys by their length in bytes: most attributes of a span have a length that no key has. */
const keysOfLength = Array.from({ length: Math.max(...keys.map(({ length }) => length)) + 1 }, (_, length) =>
  keys.filter((key) => key.length === length).map((key) => ({ bytes: Buffer.from(key), key })),
);

const typesByOperation: Readonly<Record<string, SpanType>> = {
  chat: 'model',
  text_completion: 'model',
  generate_content: 'model',
  embeddings: 'model',
  invoke_agent: 'agent',
  create_agent: 'agent',
  execute_tool: 'tool',
  LLM: 'model',
  EMBEDDING: 'model',
  AGENT: 'agent',
  TOOL: 'tool',
};

/** The value of an attribute; null if it is neither text nor a number. */
export type Value = string | number | null;
export type Found = Partial<Record<Key, Value>>;

const longestText = 500;
/** A count or an amount beyond it is nonsense, and does not fit the sums. */
const largest = 9e15;

/** Text as the database takes it: without NUL, and not longer than 500 characters. */
export const shown = (text: string): string => {
  const clean = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return clean.length <= longestText ? clean : clean.slice(0, longestText).toWellFormed();
};

export const textOf = (value: Value | undefined): string | null =>
  typeof value === 'string' && value !== '' ? shown(value) : null;

const numberOf = (value: Value | undefined): number | null =>
  typeof value === 'number' && value >= 0 && value <= largest ? value : null;

const wholeOf = (value: number | null): number | null => (value === null ? null : Math.round(value));

/** Returns whether these bytes stand in `buffer` from `at` on. */
export const isSame = (buffer: Buffer, at: number, bytes: Buffer): boolean => {
  // From behind: keys begin alike.
  for (let i = bytes.length - 1; i >= 0; i--) if (buffer[at + i] !== bytes[i]) return false;
  return true;
};

/** Returns the key that stands in `buffer` from `at` up to `end`; undefined if no one wants it. */
export const keyIn = (buffer: Buffer, at: number, end: number): Key | undefined =>
  keysOfLength[end - at]?.find(({ bytes }) => isSame(buffer, at, bytes))?.key;

/** Adds to the facts of a span what its attributes say. */
export const interpret = (facts: SpanFacts, found: Found, resource: ResourceFacts): void => {
  const own = found['gen_ai.agent.id'];
  // An id of the span wins over its resource's, and an empty or odd one names no agent, as in routing.
  facts.agentId = own === undefined ? resource.agentId : textOf(own);
  facts.agentName = textOf(found['gen_ai.agent.name']);
  facts.model = textOf(found['gen_ai.response.model']) ?? textOf(found['gen_ai.request.model']);
  facts.tool = textOf(found['gen_ai.tool.name']);
  facts.errorType = textOf(found['error.type']);
  facts.conversationId = textOf(found['gen_ai.conversation.id']);
  facts.workItemId = textOf(found['agent_platform.work_item.id']);
  const operation = textOf(found['gen_ai.operation.name']) ?? textOf(found['openinference.span.kind']);
  facts.type =
    operation !== null && Object.hasOwn(typesByOperation, operation)
      ? typesByOperation[operation]!
      : operation !== null
        ? 'other'
        : facts.tool !== null
          ? 'tool'
          : facts.model !== null
            ? 'model'
            : 'other';
  const input = numberOf(found['gen_ai.usage.input_tokens']) ?? numberOf(found['gen_ai.usage.prompt_tokens']);
  const output =
    numberOf(found['gen_ai.usage.output_tokens']) ?? numberOf(found['gen_ai.usage.completion_tokens']);
  if (input !== null || output !== null) facts.tokens = Math.round((input ?? 0) + (output ?? 0));
  const usd = numberOf(found['gen_ai.usage.cost']) ?? numberOf(found['operation.cost']);
  const cost = wholeOf(numberOf(found['agent_platform.cost.nano_usd']) ?? (usd === null ? null : usd * 1e9));
  if (cost !== null && cost <= largest) facts.costNanoUsd = cost;
};
