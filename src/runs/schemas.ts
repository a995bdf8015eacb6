import { z } from 'zod';
import { jsonObject, optional, text, timestamp } from '../http/index.ts';
import { approvalKinds } from '../lib/announcer.ts';

export const pendingApproval = z
  .object({
    approval_id: z.string(),
    kind: z
      .enum(approvalKinds)
      .describe(
        '`budget`: an administrator decides whether `extra` is added to the limit of this period. `input`: the tool asks for input while it is called.',
      ),
    tool_name: z.string().nullable(),
    tool_server_id: z.string().nullable(),
    arguments: jsonObject.nullable(),
    input_schema: jsonObject
      .nullable()
      .describe('That of the arguments; with `input` that of the answers, null for an address.'),
    reason: z.string().nullable().describe('With `input` the message of the server.'),
    mode: z
      .enum(['form', 'url'])
      .nullable()
      .describe('How the tool asks: for answers, or that a person opens an address. null but for `input`.'),
    url: z
      .string()
      .nullable()
      .describe(
        'The address that a person is to open, which the platform never does. null but for that mode.',
      ),
    round: z.int().nullable().describe('How often the call has asked, from 1. null but for `input`.'),
    requested_at: timestamp,
    expires_at: timestamp
      .nullable()
      .describe('When `approval_timeout_outcome` of the agent happens unless someone decides; null: never.'),
  })
  .meta({ id: 'PendingApproval' });

const decision = z
  .object({
    approval_id: z.string(),
    decision: z.enum(['approve', 'deny']),
    arguments: optional(jsonObject).describe(
      'Instead of those that the model gave; only with `approve`. For `input` of the mode `form` the answers, which go to the tool alone; `deny` declines.',
    ),
    reason: optional(text(2_000)).describe('The model is told why a call was denied.'),
  })
  .meta({ id: 'Decision' });

/** Decisions of a person on `pending_approvals`. */
export const decisionList = z.array(decision).max(1_000);
