import { z } from 'zod';
import { optional, text } from '../http/index.ts';

/** The way in which trials run, in experiments and in gates. */

/** The modes as responses show them. */
export const shownModes = {
  tools: z
    .enum(['replay', 'idempotent_live'])
    .describe(
      '`replay`: tools return what was recorded, and nothing outside is contacted. `idempotent_live`: idempotent tools that need no approval are called where nothing was recorded.',
    ),
  order: z
    .enum(['any_order', 'strict'])
    .describe('`strict`: recorded calls must be made in their order, and all of them.'),
  on_divergence: z
    .enum(['end', 'error'])
    .describe('What a call does that is not on the recording: it ends the trial, or fails.'),
  approvals: z
    .enum(['auto_approve', 'auto_deny'])
    .describe('What people do beyond what was recorded. An approval never makes a real call.'),
};

/** The modes as bodies give them. */
export const trialModes = {
  tools: optional(shownModes.tools, 'replay' as const),
  order: optional(shownModes.order, 'any_order' as const),
  on_divergence: optional(shownModes.on_divergence, 'end' as const),
  approvals: optional(shownModes.approvals, 'auto_approve' as const),
};

/** Tags that choose cases, each once. */
export const tagList = z
  .array(text(50, 1))
  .max(20)
  .transform((list) => [...new Set(list)]);
