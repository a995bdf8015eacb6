import { z } from 'zod';
import type { Announced } from '../../lib/announcer.ts';
import { isId } from '../../lib/ids.ts';

/** A click of someone on a button of a message that the platform posted. */
export interface Click {
  action: 'approve' | 'deny' | 'acknowledge';
  what: Announced;
  /** The id of the person in Slack. */
  user: string;
  /** Where the message is that was clicked; it may be another copy than the one that is known. */
  conversation: string;
  ts: string;
}

const slackId = z.string().regex(/^[A-Z0-9]{1,40}$/);

/** What is read of a payload (Slack's documentation, "block_actions"). No address in it is looked at. */
const payload = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: slackId }),
  container: z.object({ channel_id: slackId, message_ts: z.string().regex(/^\d{1,20}\.\d{1,10}$/) }),
  actions: z
    .array(z.object({ action_id: z.string(), value: z.string().optional() }))
    .min(1)
    .max(20),
});

const decisions = ['approve', 'deny', 'acknowledge'];

/** Returns the click that a payload tells of; null for anything else, such as the button that opens the page. */
export const clickOf = (given: unknown): Click | null => {
  const parsed = payload.safeParse(given);
  if (!parsed.success) return null;
  const { user, container, actions } = parsed.data;
  const { action_id: action, value } = actions[0]!;
  if (!decisions.includes(action) || value === undefined || !isId(value)) return null;
  return {
    action: action as Click['action'],
    what: { type: action === 'acknowledge' ? 'alert' : 'review', id: value.toLowerCase() },
    user: user.id,
    conversation: container.channel_id,
    ts: container.message_ts,
  };
};
