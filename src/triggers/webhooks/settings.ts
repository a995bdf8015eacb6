import { z } from 'zod';

/** A name of a header, as RFC 9110, section 5.1, has it. */
const headerName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header');

const hmac = z.strictObject({
  header: headerName,
  algorithm: z.enum(['sha256', 'sha512', 'sha1']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().max(100).default(''),
  timestamp_header: headerName.optional(),
  separator: z.string().max(10).default('.'),
});

const bearer = z.strictObject({ header: headerName.default('Authorization') });

/** Settings of the kind `webhook`, `secret` aside. */
export const webhookSettings = z.discriminatedUnion('scheme', [
  z.strictObject({ scheme: z.enum(['standard_webhooks', 'github', 'gitlab', 'slack', 'stripe', 'none']) }),
  z.strictObject({ scheme: z.literal('hmac'), hmac }),
  z.strictObject({ scheme: z.literal('bearer'), bearer: bearer.prefault({}) }),
]);

export type WebhookSettings = z.output<typeof webhookSettings>;

/**
 * Returns whether a delivery is signed: its body, and the headers that belong to the signature, are as the sender made
 * them. A token alone signs nothing: anyone who sees a delivery can send another.
 */
export const isSigned = ({ scheme }: WebhookSettings, secret: string | null): boolean =>
  scheme !== 'none' && scheme !== 'bearer' && (scheme !== 'gitlab' || secret?.startsWith('whsec_') === true);
