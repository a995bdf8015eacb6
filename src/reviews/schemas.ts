import { z } from 'zod';
import { id, jsonObject, optional, text, timestamp } from '../http/index.ts';
import type { SentMessage } from '../lib/announcer.ts';
import { roles } from '../lib/principal.ts';
import { sentMessages } from '../resource/index.ts';
import { decisionList, inOrderOfFields, pendingApproval } from '../runs/index.ts';
import { expiryOutcomes, type Review, reviewStates, sources } from './store.ts';

const decidedApproval = pendingApproval
  .extend({
    decision: z
      .enum(['approve', 'deny'])
      .nullable()
      .describe('null: nothing was decided, or not yet. A question has none.'),
    executed_arguments: jsonObject
      .optional()
      .describe('Those that a person gave in the place of `arguments`; absent unless they did.'),
    decision_reason: z.string().nullable(),
  })
  .meta({ id: 'ReviewApproval' });

export const publicReview = z
  .object({
    id,
    state: z
      .enum(reviewStates)
      .describe(
        '`open`: it waits. `decided`: someone decided. `expired`: no one did in time. `withdrawn`: it was cancelled, restarted, completed or deleted, or waits no more.',
      ),
    source: z.enum(sources),
    work_item_id: id.nullable().describe('null for that of a conversation.'),
    conversation_id: id.nullable().describe('null for that of a Work Item, like `run_id`.'),
    run_id: id.nullable(),
    agent: z.object({ id, name: z.string() }).meta({ id: 'ReviewAgent' }),
    name: z.string().nullable().describe('The name of the Work Item or conversation.'),
    reason: z.string().nullable().describe('Why a person is asked.'),
    approvals: z.array(decidedApproval).describe('What is asked, all decided together.'),
    required_role: z
      .enum(roles)
      .describe(
        'The lowest role that may approve, fixed when the review opened. A message alone denies, and requires `member`.',
      ),
    may_decide: z
      .boolean()
      .describe('Whether the caller may approve what it asks for, or reply to it. false once it is closed.'),
    opened_at: timestamp,
    expires_at: timestamp.nullable().describe('null: it waits until someone decides.'),
    on_expiry: z.enum(expiryOutcomes).nullable().describe('What happens then; null if it never expires.'),
    escalated_at: timestamp.nullable().describe('When no one had decided in time, and it went on waiting.'),
    closed_at: timestamp.nullable(),
    closed_by: z
      .object({ kind: z.string(), id: z.string(), name: z.string() })
      .nullable()
      .describe('Who decided or withdrew it; the system `expiry` if no one did in time.')
      .meta({ id: 'ReviewCloser' }),
    via: z
      .enum(['api', 'console', 'slack', 'expiry'])
      .nullable()
      .describe('How it was closed; null while it is open, and if the platform withdrew it.'),
    messages: sentMessages.describe('Who is told of it, and whether they were. Empty below builder.'),
  })
  .meta({ id: 'Review' });

export type ReviewResponse = z.input<typeof publicReview>;

export const decideBody = z
  .object({
    decisions: optional(decisionList).describe(
      'What a person decided on `approvals`. Requires `required_role`.',
    ),
    message: optional(text(10_000, 1)).describe(
      'A reply, or what the agent is told. Calls without a decision are denied with it as the reason.',
    ),
  })
  .meta({ id: 'DecideReviewBody' });

export type DecideBody = z.output<typeof decideBody>;

const noInput = { mode: null, url: null, round: null };

/** A review as the API shows it. The schema leaves out what it does not name. */
export const toReviewResponse = (
  { agent_id, agent_name, ...review }: Review,
  { mayDecide, messages }: { mayDecide: boolean; messages: readonly SentMessage[] },
): ReviewResponse =>
  publicReview.parse({
    ...review,
    // Those of the release before have none of the fields of input.
    approvals: review.approvals.map((approval) => ({ ...noInput, ...inOrderOfFields(approval) })),
    agent: { id: agent_id, name: agent_name },
    may_decide: mayDecide,
    messages: [...messages],
  });
