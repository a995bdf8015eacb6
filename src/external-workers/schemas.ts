import { z } from 'zod';
import { externalCharge } from '../charges/index.ts';
import { id, jsonObject, jsonValue, optional, text, timestamp } from '../http/index.ts';
import { noUsage } from '../lib/usage.ts';
import { messageRoles } from '../messages/index.ts';
import { publicMessage, publicWorkItem } from '../work-items/index.ts';

const most = { agents: 20, claims: 10, messages: 100, approvals: 100, parts: 100, charges: 100 };

const leaseSeconds = z.int().min(10).max(3_600);
const agentIds = z.array(id).min(1).max(most.agents);

export const claimBody = z
  .object({
    agent_ids: agentIds.describe('Agents with `execution: external`.'),
    limit: optional(z.int().min(1).max(most.claims), 1),
    wait_seconds: optional(z.int().min(0).max(30), 0).describe(
      'How long to wait if there is nothing to claim.',
    ),
    lease_seconds: optional(leaseSeconds).describe(
      'Without a heartbeat for this long the Work Item goes to another worker. Default: WORK_ITEM_LEASE_SECONDS.',
    ),
    worker: optional(text(200, 1)).describe('The name of the worker, for the history.'),
  })
  .meta({ id: 'ClaimWorkItemsBody' });

const partText = text(200_000);
const callId = text(200, 1);
const toolName = text(200, 1);

const part = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: partText }).meta({ id: 'NewTextPart' }),
    z
      .object({
        type: z.literal('tool_call'),
        tool_call_id: callId,
        tool_name: toolName,
        arguments: jsonValue,
      })
      .meta({ id: 'NewToolCallPart' }),
    z
      .object({
        type: z.literal('tool_result'),
        tool_call_id: callId,
        tool_name: toolName,
        text: partText,
        is_error: optional(z.boolean(), false),
      })
      .meta({ id: 'NewToolResultPart' }),
  ])
  .meta({ id: 'NewMessagePart' });

type Part = z.output<typeof part>;

/** Returns whether a message of `role` may have the part: calls are the assistant's, results those of tools. */
const fits = (role: (typeof messageRoles)[number], { type }: Part): boolean => {
  if (role === 'tool') return type === 'tool_result';
  return type === 'text' || (type === 'tool_call' && role === 'assistant');
};

const message = z
  .object({
    role: z.enum(messageRoles),
    content: z
      .union([partText, z.array(part).min(1).max(most.parts)])
      .transform((content): Part[] =>
        typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      )
      .describe('Text, or a list of parts.'),
  })
  .superRefine(({ role, content }, context) => {
    content.forEach((one, i) => {
      if (fits(role, one)) return;
      const message = `a message of role ${role} cannot have a part of type ${one.type}`;
      context.addIssue({ code: 'custom', path: ['content', i], message });
    });
  })
  .meta({ id: 'NewMessage' });

const count = z.int().min(0).max(1_000_000_000_000);

const fields = {
  lease_token: text(1_000),
  messages: optional(z.array(message).max(most.messages), []).describe('Added to the conversation.'),
  usage: optional(
    z.object({
      input_tokens: optional(count),
      output_tokens: optional(count),
      cached_input_tokens: optional(count),
      reasoning_tokens: optional(count),
      model_calls: optional(count),
      tool_calls: optional(count),
    }),
    {},
  ).describe(
    'Added to the usage of the Work Item: what was used since the last report. Without `charges` its tokens are one charge without a price.',
  ),
  charges: optional(z.array(externalCharge).max(most.charges), []).describe(
    'Calls of models since the last report. Their tokens are added to the usage, which then has none of its own.',
  ),
};

/** Adds a fault if tokens are reported twice. */
const checkUsage = (
  { usage, charges }: { usage: Record<string, number | undefined>; charges: readonly unknown[] },
  context: z.RefinementCtx,
): void => {
  if (charges.length === 0) return;
  for (const name of Object.keys(noUsage)) {
    if (usage[name] === undefined) continue;
    const message = 'must not stand next to `charges`, whose tokens are added';
    context.addIssue({ code: 'custom', path: ['usage', name], message });
  }
};

export const heartbeatBody = z
  .object({
    ...fields,
    lease_seconds: optional(leaseSeconds).describe('Default: that of the claim.'),
    unsafe_tool_in_flight: optional(z.boolean()).describe(
      'Whether a tool call that must not be repeated is in progress. If the worker is lost then, the Work Item becomes INDETERMINATE.',
    ),
  })
  .superRefine(checkUsage)
  .meta({ id: 'HeartbeatWorkItemBody' });

const outcomes = ['COMPLETED', 'ERROR', 'RETRY', 'NEEDS_REVIEW', 'CANCELLED', 'HANDED_BACK'] as const;

const approval = z
  .object({
    approval_id: optional(text(200, 1)).describe('Generated if absent.'),
    kind: optional(z.enum(['tool_call', 'question', 'unknown_outcome']), 'tool_call' as const),
    tool_name: optional(toolName, null),
    arguments: optional(jsonObject, null),
    input_schema: optional(jsonObject, null),
    reason: optional(text(2_000), null),
  })
  .meta({ id: 'NewApproval' });

const approvals = z
  .array(approval)
  .max(most.approvals)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    list.forEach(({ approval_id }, i) => {
      if (approval_id === undefined) return;
      if (seen.has(approval_id)) {
        context.addIssue({ code: 'custom', path: [i, 'approval_id'], message: 'is there twice' });
      }
      seen.add(approval_id);
    });
  });

export const finishBody = z
  .object({
    ...fields,
    outcome: z.enum(outcomes),
    result: jsonValue.optional().describe('The result (COMPLETED).'),
    error: optional(
      z.object({
        code: z.string().regex(/^[a-z_]{1,64}$/, 'must be 1 to 64 characters of a-z and _'),
        message: text(2_000),
      }),
    ).describe('What went wrong (ERROR, RETRY).'),
    review: optional(z.object({ reason: text(10_000), approvals: optional(approvals, []) })).describe(
      'Why a person is asked (NEEDS_REVIEW).',
    ),
    retry_after_seconds: optional(z.int().min(0).max(86_400)).describe(
      'When the next attempt may begin (RETRY). Default: 2, 4, 8 … at most 300 s, by the number of attempts.',
    ),
  })
  .superRefine(checkUsage)
  .meta({ id: 'FinishWorkItemBody' });

export type ClaimBody = z.output<typeof claimBody>;
export type HeartbeatBody = z.output<typeof heartbeatBody>;
export type FinishBody = z.output<typeof finishBody>;

const decision = z
  .object({
    approval_id: z.string(),
    decision: z.enum(['approve', 'deny']),
    arguments: jsonObject.optional().describe('Instead of those that were asked about.'),
    reason: z.string().optional(),
  })
  .meta({ id: 'Decision' });

export const claims = z
  .object({
    records: z
      .array(
        z
          .object({
            work_item: publicWorkItem,
            lease_token: z.string().describe('What every heartbeat and the finish must send.'),
            lease_expires_at: timestamp,
            traceparent: z
              .string()
              .describe('For the spans of the attempt: its trace is the trace of the Work Item.'),
            messages: z.array(publicMessage).describe('The conversation so far, oldest first.'),
            decisions: z.array(decision).describe('What a person decided last.'),
          })
          .meta({ id: 'ClaimedWorkItem' }),
      )
      .describe('Oldest first; empty if there was nothing to claim.'),
  })
  .meta({ id: 'ClaimedWorkItems' });

export const leaseState = z
  .object({
    lease_expires_at: timestamp,
    cancel_requested: z.boolean().describe('Stop, and finish with CANCELLED.'),
  })
  .meta({ id: 'WorkItemLease' });
