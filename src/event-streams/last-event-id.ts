import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { unprocessable } from '../lib/errors.ts';

const digits = /^\d{1,15}$/;
const fault = 'must be 1 to 15 digits';

/** The query of a stream that can be resumed. */
export const lastEventIdQuery = z.object({
  last_event_id: z
    .string()
    .regex(digits, fault)
    .optional()
    .describe('For clients that cannot set the header `Last-Event-ID`, which wins.'),
});

/** The id of the last event that the client has; null if it has none. Throws 422 unless it is 1 to 15 digits. */
export const lastEventIdOf = (
  headers: IncomingHttpHeaders,
  query: z.output<typeof lastEventIdQuery>,
): number | null => {
  const given = headers['last-event-id'] ?? query.last_event_id;
  if (given === undefined) return null;
  if (typeof given === 'string' && digits.test(given)) return Number(given);
  throw unprocessable([{ path: 'Last-Event-ID', message: fault }]);
};
