import { z } from 'zod';
import { id, timestamp } from '../http/index.ts';
import { messageStates } from '../lib/announcer.ts';

/** The messages that tell people of a review or an alert, in its response. */
export const sentMessages = z.array(
  z
    .object({
      channel_id: id,
      channel_name: z.string(),
      to: z
        .union([z.string(), z.object({ user_id: id, name: z.string() })])
        .describe('`channel`, an e-mail address, or a person.'),
      state: z.enum(messageStates),
      attempts: z.int(),
      last_error: z.string().nullable(),
      next_attempt_at: timestamp
        .nullable()
        .describe('While an attempt is in flight: when it is repeated if its replica was lost.'),
      delivered_at: timestamp.nullable(),
    })
    .meta({ id: 'SentMessage' }),
);
