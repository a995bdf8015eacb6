import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ProviderRequest } from './protocol.ts';

/**
 * What providers refuse in a request, with the status and the words of public reports. Decision 0051 lists the reports.
 * Each check throws a Refused; a provider puts it into the body of its errors.
 */

// biome-ignore lint/suspicious/noExplicitAny: a test reads the wire format as it is
type Json = any;

/** Why a provider refuses a request. `path` is where, in the words of the provider. */
export class Refused extends Error {
  readonly path: string;
  readonly code: string | null;
  constructor(message: string, path: string, code: string | null = null) {
    super(message);
    this.path = path;
    this.code = code;
  }
}

/** An HTTP response that refuses a request. */
export interface Refusal {
  status: number;
  body: unknown;
}

/** The refusal that `check` throws, as `toBody` says it; null if it throws none. */
export const refusalOf = (check: () => void, toBody: (refused: Refused) => Refusal): Refusal | null => {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Refused) return toBody(error);
    throw error;
  }
};

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** The first value in `schema` that 2020-12 does not know; null if it is valid. */
export const faultBy2020 = (schema: Json): string | null => {
  if (ajv.validateSchema(schema)) return null;
  const [error] = ajv.errors ?? [];
  return `${error?.instancePath} ${error?.message}`;
};

/** Calls `visit` for `schema` and all schemas in it, with the path as OpenAI writes it. */
export const eachSchema = (
  schema: Json,
  visit: (node: Json, path: string[]) => void,
  path: string[] = [],
) => {
  if (typeof schema !== 'object' || schema === null) return;
  visit(schema, path);
  for (const key of ['properties', '$defs', 'definitions', 'patternProperties']) {
    for (const [name, one] of Object.entries(schema[key] ?? {})) eachSchema(one, visit, [...path, key, name]);
  }
  for (const key of [
    'items',
    'additionalProperties',
    'not',
    'if',
    'then',
    'else',
    'contains',
    'propertyNames',
  ]) {
    eachSchema(schema[key], visit, [...path, key]);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [i, one] of (schema[key] ?? []).entries()) eachSchema(one, visit, [...path, key, String(i)]);
  }
};

const isArrayType = ({ type }: Json) => type === 'array' || (Array.isArray(type) && type.includes('array'));
const combinators = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** OpenAI's rules for a schema that the model is held to. */
const checkHeld = (schema: Json, fail: (message: string) => never): void =>
  eachSchema(schema, (node, path) => {
    const context = `In context=(${path.map((part) => `'${part}'`).join(', ')})`;
    if (node.type !== 'object') return;
    if (node.additionalProperties !== false) {
      fail(`${context}, 'additionalProperties' is required to be supplied and to be false.`);
    }
    const missing = Object.keys(node.properties ?? {}).find((name) => !node.required?.includes(name));
    if (missing !== undefined) {
      fail(`${context}, 'required' is required to be supplied and to be an array including '${missing}'.`);
    }
  });

/** The parameters of a function of OpenAI and Azure. */
const checkParameters = (name: string, schema: Json, strict: boolean, param: string): void => {
  const fail = (message: string): never => {
    throw new Refused(
      `Invalid schema for function '${name}': ${message}`,
      param,
      'invalid_function_parameters',
    );
  };
  if (schema?.type !== 'object') {
    fail(`schema must be a JSON Schema of 'type: "object"', got 'type: "${schema?.type ?? 'None'}"'.`);
  }
  if (combinators.some((key) => key in schema)) {
    fail(
      "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
    );
  }
  const fault = faultBy2020(schema);
  if (fault !== null) fail(`${fault} is not valid under any of the given schemas.`);
  if (!('properties' in schema)) fail('In context=(), object schema missing properties.');
  eachSchema(schema, (node, path) => {
    const context = `In context=(${path.map((part) => `'${part}'`).join(', ')})`;
    if (isArrayType(node) && !('items' in node)) fail(`${context}, array schema missing items.`);
    if ('propertyNames' in node) fail(`${context}, 'propertyNames' is not permitted.`);
    if (/\(\?<?[=!]/.test(node.pattern ?? '')) fail(`${context}, 'pattern' has a lookaround.`);
  });
  if (strict) checkHeld(schema, fail);
};

const openAiNames = /^[a-zA-Z0-9_-]{1,64}$/;

/** What OpenAI and Azure refuse, in both of their protocols. */
export const checkOpenAi = ({ body }: ProviderRequest): void => {
  const tools: Json[] = body.tools ?? [];
  if (tools.length > 128) {
    throw new Refused(
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
      'tools',
      'array_above_max_length',
    );
  }
  if ('tools' in body && tools.length === 0) {
    throw new Refused("Invalid 'tools': empty array.", 'tools', 'empty_array');
  }
  const called = (body.messages ?? []).some((message: Json) => message.role === 'tool' || message.tool_calls);
  if (called && tools.length === 0 && body.tool_choice)
    throw new Refused('tool_choice needs tools.', 'tool_choice');
  for (const [i, tool] of tools.entries()) {
    const chat = 'function' in tool;
    const at = chat ? `tools[${i}].function` : `tools[${i}]`;
    const { name, description = '', parameters, strict = false } = chat ? tool.function : tool;
    if (!openAiNames.test(name)) {
      const pattern = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
      throw new Refused(`Invalid '${at}.name': string does not match pattern. ${pattern}`, `${at}.name`);
    }
    if (chat && [...description].length > 1_024) {
      throw new Refused(
        `Invalid '${at}.description': string too long. Expected a string with maximum length 1024, but got a string with length ${[...description].length} instead.`,
        `${at}.description`,
        'string_above_max_length',
      );
    }
    checkParameters(name, parameters, strict, `${at}.parameters`);
  }
  const { schema, strict, name } = body.text?.format ?? body.response_format?.json_schema ?? {};
  if (schema && strict) {
    checkHeld(schema, (message) => {
      throw new Refused(`Invalid schema for response_format '${name}': ${message}`, 'response_format');
    });
  }
};

const topCombinators = (schema: Json, at: string) => {
  if (!['oneOf', 'allOf', 'anyOf'].some((key) => key in schema)) return;
  throw new Refused(`${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`, at);
};

/** What Anthropic refuses of a tool, also behind Bedrock. `i` is its number. */
const checkAnthropicSchema = (schema: Json, i: number): void => {
  const at = `tools.${i}.custom.input_schema`;
  if (schema?.type === undefined) throw new Refused(`${at}.type: Field required`, at);
  if (schema.type !== 'object') throw new Refused(`${at}.type: Input should be 'object'`, at);
  topCombinators(schema, at);
  if (faultBy2020(schema) !== null) {
    const learn = 'It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).';
    throw new Refused(`${at}: JSON schema is invalid. ${learn}`, at);
  }
  const names = '^[a-zA-Z0-9_.-]{1,64}$';
  if (Object.keys(schema.properties ?? {}).some((name) => !new RegExp(names).test(name))) {
    throw new Refused(`${at}.properties: Property keys should match pattern '${names}'`, at);
  }
};

/** What Anthropic refuses. */
export const checkAnthropic = ({ body }: ProviderRequest): void => {
  const tools: Json[] = body.tools ?? [];
  for (const [i, { name, input_schema }] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      const pattern = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
      throw new Refused(`tools.${i}.custom.name: ${pattern}`, 'tools');
    }
    checkAnthropicSchema(input_schema, i);
  }
  const usesTools = /"type":"tool_(use|result)"/.test(JSON.stringify(body.messages));
  if (usesTools && tools.length === 0) {
    throw new Refused('Requests which include `tool_use` or `tool_result` blocks must define tools', 'tools');
  }
  if (body.thinking?.budget_tokens >= body.max_tokens) {
    throw new Refused('`max_tokens` must be greater than `thinking.budget_tokens`.', 'max_tokens');
  }
};

/** What Bedrock refuses. */
export const checkBedrock = ({ body }: ProviderRequest): void => {
  const tools: Json[] = (body.toolConfig?.tools ?? []).filter((tool: Json) => tool.toolSpec);
  if (body.toolConfig && tools.length === 0) {
    throw new Refused(
      "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
      '',
    );
  }
  for (const [i, { toolSpec }] of tools.entries()) {
    const at = `toolConfig.tools.${i}.member.toolSpec`;
    if (!openAiNames.test(toolSpec.name)) {
      throw new Refused(`Value at '${at}.name' failed to satisfy constraint: [a-zA-Z0-9_-]+`, at);
    }
    if (toolSpec.description === '') {
      throw new Refused(`Invalid length for parameter ${at}.description, value: 0, valid min length: 1`, at);
    }
    const schema = toolSpec.inputSchema?.json;
    if (schema?.type !== 'object') {
      const json = `toolConfig.tools.${i}.toolSpec.inputSchema.json.type`;
      throw new Refused(`The value at ${json} must be one of the following: object.`, at);
    }
    checkAnthropicSchema(schema, i);
  }
  const usesTools = /"tool(Use|Result)":/.test(JSON.stringify(body.messages));
  if (usesTools && tools.length === 0) {
    const message = 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
    throw new Refused(message, '');
  }
};

/** What Gemini's `Schema` knows; a name besides them is refused in `parameters`. */
const schemaNames = new Set(
  'type format title description nullable enum items minItems maxItems properties required propertyOrdering minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf default'.split(
    ' ',
  ),
);

/** What Gemini refuses. */
export const checkGoogle = ({ body }: ProviderRequest): void => {
  const declared: Json[] = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
  for (const [i, { name, parameters, parametersJsonSchema }] of declared.entries()) {
    const at = `tools[0].function_declarations[${i}]`;
    if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)) {
      throw new Refused(
        `${at}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore.`,
        at,
      );
    }
    eachSchema(parameters, (node) => {
      const unknown = Object.keys(node).find((key) => !schemaNames.has(key));
      if (unknown === undefined) return;
      throw new Refused(
        `Invalid JSON payload received. Unknown name "${unknown}" at '${at}.parameters': Cannot find field.`,
        at,
      );
    });
    const schema = parametersJsonSchema ?? parameters;
    if (schema?.type !== 'object') throw new Refused(`${at}.parameters.type: must be OBJECT.`, at);
    eachSchema(schema, (node, path) => {
      const where = ['properties', ...path].join('.');
      if ('propertyNames' in node || '$schema' in node) {
        throw new Refused(
          `Invalid JSON payload received. Unknown name "propertyNames" at '${at}': Cannot find field.`,
          at,
        );
      }
      if ('$ref' in node) throw new Refused(`reference to undefined schema at ${where}`, at);
      if (isArrayType(node) && !('items' in node))
        throw new Refused(`${at}.${where}.items: missing field.`, at);
      const lost = (node.required ?? []).find((one: string) => !Object.hasOwn(node.properties ?? {}, one));
      if (lost !== undefined) throw new Refused(`${at}.${where}.required: property is not defined.`, at);
    });
  }
};

const sayOpenAi = (
  message: string,
  code: string | null = null,
  param: string | null = null,
  status = 400,
): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param, code } },
});

/** OpenAI's and Azure's error body. */
export const openAiRefusal = (request: ProviderRequest): Refusal | null =>
  refusalOf(
    () => checkOpenAi(request),
    ({ message, code, path }) => sayOpenAi(message, code, path),
  );

/** Servers and routers behind `openai_compatible`, by what they do not take. */
export const servers = {
  /** Passes everything on to OpenAI, or to Gemini's `parameters`. */
  router: openAiRefusal,
  /** Started without the options for tools. */
  vllm: ({ body }) =>
    body.tools
      ? {
          status: 400,
          body: {
            object: 'error',
            message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            type: 'BadRequestError',
            param: null,
            code: 400,
          },
        }
      : null,
  /** With a model without tools. */
  ollama: ({ body }) =>
    body.tools
      ? sayOpenAi('registry.ollama.ai/library/gemma3:latest does not support tools', null, null)
      : null,
  lm_studio: (request) =>
    request.body.response_format?.type === 'json_object'
      ? { status: 400, body: { error: "'response_format.type' must be 'json_schema' or 'text'" } }
      : openAiRefusal(request),
  /** Started without its templates. */
  llama_cpp: ({ body }) =>
    body.tools
      ? {
          status: 500,
          body: { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
        }
      : null,
  /** A router whose model takes no tools. */
  openrouter: ({ body }) =>
    body.tools
      ? { status: 404, body: { error: { message: 'No endpoints found that support tool use.', code: 404 } } }
      : null,
} satisfies Record<string, (request: ProviderRequest) => Refusal | null>;
