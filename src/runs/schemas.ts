import { z } from 'zod';
import { jsonObject, optional, text, timestamp } from '../http/index.ts';

export const pendingApproval = z
  .object({
    approval_id: z.string(),
    kind: z
      .enum(['tool_call', 'question', 'unknown_outcome', 'budget'])
      .describe('`budget`: an administrator decides whether `extra` is added to the limit of this period.'),
    tool_name: z.string().nullable(),
    tool_server_id: z.string().nullable(),
    arguments: jsonObject.nullable(),
    input_schema: jsonObject.nullable(),
    reason: z.string().nullable(),
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
    arguments: optional(jsonObject).describe('Instead of those that the model gave; only with `approve`.'),
    reason: optional(text(2_000)).describe('The model is told why a call was denied.'),
  })
  .meta({ id: 'Decision' });

/** Decisions of a person on `pending_approvals`. */
export const decisionList = z.array(decision).max(1_000);
