import { LRUCache } from 'lru-cache';
import type { ResolvedLlm } from '../../llm-configurations/index.ts';
import { ModelError, type StepRequest, type StepResult } from '../step.ts';
import { offeredTools } from './offered.ts';
import type { OutputFormat } from './provider.ts';

/** Knowledge of one attempt about its model: a refused try is not made again, and nothing is noted twice. */
export interface Memory {
  withoutTools: boolean;
  noted: Set<string>;
}

export const createMemory = (): Memory => ({ withoutTools: false, noted: new Set() });

/** Formats in which endpoints take requests for JSON. A server that changes is found out within the hour. */
const outputs = new LRUCache<string, OutputFormat>({ max: 1_000, ttl: 60 * 60_000 });

/** Only servers that speak the protocol of another refuse one of its ways. The last one always works. */
const formats: readonly OutputFormat[] = ['json_object', 'json_schema', 'text'];

type EndpointLlm = Exclude<ResolvedLlm, { kind: 'mock' }>;
type Send = (request: StepRequest, output: OutputFormat) => Promise<StepResult>;

/** Asks for JSON in the next way if the endpoint does not take one. */
const sendOutput = async (llm: EndpointLlm, model: string, request: StepRequest, send: Send) => {
  if (!request.output || llm.kind !== 'openai_compatible') return send(request, 'json_object');
  const key = `${llm.base_url} ${model}`;
  for (let at = formats.indexOf(outputs.get(key) ?? 'json_object'); ; at++) {
    try {
      const result = await send(request, formats[at]!);
      outputs.set(key, formats[at]!);
      return result;
    } catch (error) {
      if (!(error instanceof ModelError) || error.refused !== 'output' || at === formats.length - 1)
        throw error;
    }
  }
};

/**
 * One call with what the endpoint takes: tools in the form that it takes, the request once more without them if it takes
 * none, and JSON in a way that it has.
 */
export const withFallbacks = async (
  llm: EndpointLlm,
  model: string,
  memory: Memory,
  request: StepRequest,
  send: Send,
): Promise<StepResult> => {
  const attempt = async (sent: StepRequest['tools'], notes: readonly string[]): Promise<StepResult> => {
    const result = await sendOutput(llm, model, { ...request, tools: sent }, send);
    const fresh = notes.filter((note) => !memory.noted.has(note));
    for (const note of fresh) memory.noted.add(note);
    const known = new Set(sent.map(({ name }) => name));
    const leftOut = request.tools.flatMap(({ name }) => (known.has(name) ? [] : [name]));
    return { ...result, ...(fresh.length > 0 && { notes: fresh }), ...(leftOut.length > 0 && { leftOut }) };
  };
  if (memory.withoutTools) return attempt([], []);
  const { tools, notes } = await offeredTools(llm, request.tools);
  try {
    return await attempt(tools, notes);
  } catch (error) {
    if (!(error instanceof ModelError) || error.refused !== 'tools' || tools.length === 0) throw error;
    memory.withoutTools = true;
    return attempt(
      [],
      [`The endpoint takes no tools: agents with this model work without any. ${error.message}`],
    );
  }
};
