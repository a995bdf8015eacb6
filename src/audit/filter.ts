import { z } from 'zod';

/** The largest position and count that a number of JSON holds exactly, in 15 digits. */
export const mostPosition = 999_999_999_999_999;

/** A time with milliseconds, as entries have: the first one that is not before a time given more exactly. */
const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(Date.parse(text) + (/\.\d{3}\d*[1-9]/.test(text) ? 1 : 0)));

/** The filter of a list or an export of entries. */
export const auditFilter = z.object({
  principal_id: z.string().optional().describe('Only what this principal did.'),
  action: z
    .string()
    .optional()
    .describe(
      'Only this action, such as `schedule.create`, or with `*` at its end all that begin so: `user.*`.',
    ),
  target_type: z.string().optional().describe('Only changes of this kind of resource, such as `schedule`.'),
  target_id: z.string().optional().describe('Only changes of the resource with this id.'),
  outcome: z.enum(['done', 'refused']).optional(),
  request_id: z.string().optional().describe('Only what this request did.'),
  from: instant.optional().describe('Only entries at this time or later (RFC 3339).'),
  to: instant.optional().describe('Only entries before this time (RFC 3339).'),
});
