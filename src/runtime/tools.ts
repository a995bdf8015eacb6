import { isZoneName } from '@agent-platform/cron';
import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { OwnerIds } from '../files/index.ts';
import type { ShownResult } from '../lib/tool-results.ts';
import type { Usage } from '../lib/usage.ts';
import type { AskedInput, GivenInput } from '../tool-inputs/index.ts';

/** The run that makes a tool call. */
export interface ToolContext {
  /** The id of the Work Item or of the run of a conversation. */
  runId: string;
  agentId: string;
  /** The conversation or Work Item whose files and data frames it sees. */
  owner: OwnerIds;
  /** Whose files it sees, if not those of `owner`. */
  filesOf?: OwnerIds | undefined;
  /** Number of agents that called each other before this run; 0: none. */
  depth: number;
  /** Aborted when the run is cancelled, its time is over or its lease is lost. */
  signal: AbortSignal;
  /** The id of the call. */
  callId: string;
  /** What people answered, if the call goes on after it asked for input. */
  input?: GivenInput | undefined;
}

export interface ToolResult extends ShownResult {
  /** Tokens that it used: they count like those of the run. */
  usage?: Usage;
  /** A person must review the run before it continues: it becomes NEEDS_REVIEW for this reason. */
  review?: string;
  /** The call was sent and there was no answer: no one knows whether it took effect. */
  outcomeUnknown?: boolean;
  /** The tool asks people for input: the call goes on with the answers. There is no other result yet. */
  input?: AskedInput;
  /** The tool server refuses access: the run ends with this message. */
  unauthorized?: string;
}

/**
 * Tool that a model can call. The platform provides some tools (below); `server-tools.ts` makes the others from the
 * tools that tool servers offer.
 */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
  /**
   * Calling it twice with the same arguments does no more than calling it once. A Work Item that was lost in the
   * middle of a call of another kind becomes INDETERMINATE instead of being tried again.
   */
  idempotent: boolean;
  /** True if a person must approve each call. */
  policy: 'allow' | 'require_approval';
  /** The tool server that has it; null: the platform. */
  serverId: string | null;
  /** Differs if anything in its definition does; null for tools of the platform. */
  definitionHash: string | null;
  /** True if the tool asks a person: calls after it in the same step are not made. */
  asksPerson?: boolean;
  /** Returns what is wrong with the arguments; null if nothing is. */
  check(args: unknown): string | null;
  /** `args` have passed the check. A rejection counts as a result with `isError`. */
  call(args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}

/** A tool whose definition changed and that no one has accepted since. People are shown what it is now. */
export type WithheldTool = Pick<Tool, 'name' | 'inputSchema' | 'serverId' | 'definitionHash'>;

/** The tools of an agent for one attempt. Disposing of them closes what they need. */
export interface OpenedTools extends AsyncDisposable {
  tools: readonly Tool[];
  withheld?: readonly WithheldTool[];
}

/** A tool of the platform. Every one is idempotent and needs no approval. */
export const define = <S extends z.ZodType>(
  tool: Pick<Tool, 'name' | 'description' | 'asksPerson'>,
  schema: S,
  call: (args: z.output<S>, context: ToolContext) => ToolResult | Promise<ToolResult>,
): Tool => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    ...tool,
    inputSchema,
    idempotent: true,
    policy: 'allow',
    serverId: null,
    definitionHash: null,
    check: (args) => {
      const parsed = schema.safeParse(args ?? {});
      return parsed.success ? null : z.prettifyError(parsed.error);
    },
    call: async (args, context) => call(schema.parse(args ?? {}), context),
  };
};

/** Tools that every agent has, unless its settings leave them out. */
export const builtInTools: readonly Tool[] = [
  define(
    {
      name: 'current_time',
      description: 'The current date and time, in UTC or in a time zone.',
    },
    z.object({
      timezone: z
        .string()
        .refine(isZoneName, 'must be the IANA name of a time zone, such as Europe/Berlin')
        .optional()
        .describe('IANA name; UTC if it is left out.'),
    }),
    ({ timezone = 'UTC' }) => ({
      text: Temporal.Now.zonedDateTimeISO(timezone).round('second').toString(),
    }),
  ),
  define(
    {
      name: 'request_review',
      description:
        'Stop and ask a person to review this before anything more is done. Use it if you are not sure or not allowed to decide.',
      asksPerson: true,
    },
    z.object({ reason: z.string().min(1).max(2_000).describe('What the person should review, and why.') }),
    ({ reason }) => ({ text: 'A person was asked to review this.', review: reason }),
  ),
];
