import { z } from 'zod';
import { headerMap, id, optional, pageOf, text, timestamp } from '../http/index.ts';
import { maxUrlLength, urlFault } from '../lib/http-url.ts';
import { isSigningSecret } from './signature.ts';
import { callbackEvents, deliveryStates } from './store.ts';

const maxCallbacks = 5;

/** Where to send signed requests. */
export const webhookUrl = z
  .string()
  .superRefine((value, context) => {
    const message = urlFault(value);
    if (message) context.addIssue({ code: 'custom', message });
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: maxUrlLength } });

const event = z.enum(callbackEvents);
const events = z
  .array(event)
  .min(1)
  .max(50)
  .transform((list) => [...new Set(list)]);

export const signingSecret = z
  .string()
  .refine(isSigningSecret, 'must be `whsec_` and the base64 of 24 to 64 bytes')
  .meta({ openapi: { type: 'string', examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] } });

/** Headers of the caller. The sender sets those that the signature and the connection need. */
export const webhookHeaders = headerMap([
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'accept-encoding',
  'user-agent',
]);

const fields = {
  url: webhookUrl.describe('Where to send. Redirects are not followed.'),
  events: optional(events).describe('Default: needs_review, indeterminate, completed, error, cancelled.'),
  headers: optional(webhookHeaders).describe('Additional headers. Their values are never returned.'),
  secret: optional(signingSecret).describe(
    'Signs each request. Generated, and shown in this response alone, if absent.',
  ),
};

/** A list is refused before its items are checked if it is too long. */
const listOf = <S extends z.ZodType>(item: S) => z.array(item).max(maxCallbacks);

/** The callbacks of a create body. */
export const newCallbacks = listOf(z.object(fields).meta({ id: 'NewCallback' }));

/** The callbacks of an update body: the list replaces all. */
export const changedCallbacks = listOf(
  z
    .object({
      id: optional(text(100)).describe(
        'The `id` of a callback that the list has now: what is left out stays as it is.',
      ),
      ...fields,
    })
    .meta({ id: 'ChangedCallback' }),
);

export type NewCallback = z.output<typeof newCallbacks>[number];
export type ChangedCallback = z.output<typeof changedCallbacks>[number];

export const publicCallback = z
  .object({
    id,
    url: z.string(),
    events: z.array(event),
    header_names: z.array(z.string()).describe('The names of the additional headers.'),
    secret_set: z.boolean(),
    secret: z
      .string()
      .optional()
      .describe('The generated signing secret: only in the response of the request that created it.'),
  })
  .meta({ id: 'PublicCallback' });

export const publicDelivery = z
  .object({
    id: id.describe('The `webhook-id` of every attempt.'),
    event,
    url: z.string(),
    state: z
      .enum(deliveryStates)
      .describe('`failed`: no attempts are left. `gone`: the receiver responded with 410.'),
    attempts: z.int(),
    last_status: z.int().nullable().describe('The status of the last response; null if there was none.'),
    last_error: z.string().nullable(),
    next_attempt_at: timestamp
      .nullable()
      .describe('While an attempt is in flight: when it is repeated if its replica was lost.'),
    delivered_at: timestamp.nullable(),
  })
  .meta({ id: 'CallbackDelivery' });

export const deliveryPage = pageOf('CallbackDeliveryPage', publicDelivery);
