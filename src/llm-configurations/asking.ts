import type { Database, Executor } from '../database/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import type { Usage } from '../lib/usage.ts';
import type { ResolvedLlm } from './kinds.ts';
import type { ProbeLlm } from './routes.ts';

/** Calls of an LLM outside any run, for one object. The runtime implements them. */

/** Seconds after which a client may ask again. */
const retryAfter = '5';

/**
 * An LLM could not be asked, or sent no reply in time: 503; 422 if it would refuse the same request again. `reason` is the
 * code of the model's error.
 */
export class LlmFailure extends ApiError {
  readonly reason: string;

  constructor(reason: string, message: string, { retryable }: { retryable: boolean }) {
    const text = `The LLM cannot be asked: ${message}`;
    if (retryable) super('service_unavailable', text, {}, { 'retry-after': retryAfter });
    else super('unprocessable_entity', text, { details: [{ path: 'llm_id', message: text }] });
    this.reason = reason;
  }
}

export interface ObjectRequest {
  /** What the call is charged as. */
  purpose: 'judge' | 'question' | 'extraction';
  /** The system's first; then those of the user and the replies of the assistant. */
  messages: readonly { role: 'system' | 'user' | 'assistant'; text: string }[];
  /** JSON Schema of the object. */
  schema: Record<string, unknown>;
  /**
   * `reply`: the reply is the object. Providers hold their models to the schema, and refuse one that leaves anything
   * open. `tool`: the object is the arguments of a tool, whose schema may be open.
   */
  as: 'reply' | 'tool';
  /** Only a call of the tool counts: JSON in the text may be a quotation. */
  mustCall?: boolean;
  signal?: AbortSignal | undefined;
  /** Attempts if the call fails in a way that may pass; default 1. */
  mostCalls?: number;
  /** For all calls and the time between them, in milliseconds; 60 s if it is left out. */
  withinMs?: number;
}

export interface ObjectReply {
  /** Undefined if the model gave no object. */
  output: Record<string, unknown> | undefined;
  text: string;
  usage: Usage;
}

/** An LLM that is asked for one object at a time. */
export interface AskedModel {
  llmId: string;
  /** The name of the model. */
  model: string;
  /** The built-in mock, which follows rules. */
  isMock: boolean;
  /** Throws `LlmFailure`; rejects with the signal's reason if it is aborted. */
  askForObject(request: ObjectRequest): Promise<ObjectReply>;
}

/** Opens the LLM of an agent, an LLM, or the default one. Throws 404 for an unknown agent and 422 for an unknown LLM. */
export type AskModel = (who: {
  agentId?: string | undefined;
  llmId?: string | undefined;
}) => Promise<AskedModel>;

/** Calls of models outside any run. The runtime makes them. */
export interface Models {
  probe: ProbeLlm;
  /** `name`: the model, instead of that of the configuration. `agentId`: the agent that its calls are charged to. */
  open(llm: ResolvedLlm, name: string | null, agentId?: string): AskedModel;
}

/** Agents, which name the LLM that they use. */
export interface AskingAgents {
  /** Throws 404 if there is none. */
  get(executor: Executor, id: string): Promise<{ llm_id: string | null; model: string | null }>;
}

interface AskParts {
  db: Database;
  resolve(llmId: string | null): Promise<ResolvedLlm>;
  models: Pick<Models, 'open'>;
  agents: () => AskingAgents | null;
}

export const createAsk =
  ({ db, resolve, models, agents }: AskParts): AskModel =>
  async ({ agentId, llmId }) => {
    const agent = agentId === undefined ? null : await db.run((executor) => agents()!.get(executor, agentId));
    if (llmId === undefined)
      return models.open(await resolve(agent?.llm_id ?? null), agent?.model ?? null, agentId);
    const llm = await resolve(llmId).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
      throw unprocessable([{ path: 'llm_id', message: 'is not an LLM configuration' }], { llm_id: llmId });
    });
    return models.open(llm, null, agentId);
  };
