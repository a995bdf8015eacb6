import { z } from 'zod';
import { isZoneName } from '../lib/zone-name.ts';

/** The run that makes a tool call. */
interface ToolContext {
  workItemId: string;
  agentId: string;
  /** Aborted when the Work Item is cancelled, its time is over or its lease is lost. */
  signal: AbortSignal;
}

export interface ToolResult {
  /** The result that the model gets. */
  text: string;
  /** The call failed in a way that the model can react to. */
  isError?: boolean;
  /** A person must review the Work Item before it continues: it becomes NEEDS_REVIEW for this reason. */
  review?: string;
}

/**
 * What a model can call. The platform provides some tools (below). A tool server provides others; its client turns each
 * of the server's tools into one of these.
 */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
  /**
   * Calling it twice with the same arguments does no more than calling it once. A Work Item that was lost in the
   * middle of a call of another kind becomes INDETERMINATE instead of being tried again (product, section 6).
   */
  idempotent: boolean;
  /** `args` as the model sent them, not checked. A rejection counts as a result with `isError`. */
  call(args: unknown, context: ToolContext): Promise<ToolResult>;
}

const define = <S extends z.ZodType>(
  tool: Pick<Tool, 'name' | 'description' | 'idempotent'>,
  schema: S,
  call: (args: z.output<S>) => ToolResult,
): Tool => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    ...tool,
    inputSchema,
    call: async (args) => {
      const parsed = schema.safeParse(args ?? {});
      if (!parsed.success) return { text: z.prettifyError(parsed.error), isError: true };
      return call(parsed.data);
    },
  };
};

/** The tools that every agent has. */
export const builtInTools: readonly Tool[] = [
  define(
    {
      name: 'current_time',
      description: 'The current date and time, in UTC or in a time zone.',
      idempotent: true,
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
      idempotent: true,
    },
    z.object({ reason: z.string().min(1).max(2_000).describe('What the person should review, and why.') }),
    ({ reason }) => ({ text: 'A person was asked to review this.', review: reason }),
  ),
];
