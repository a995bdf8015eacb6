import { isIP } from 'node:net';
import { z } from 'zod';
import { optional, text } from '../http/index.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { type TlsSettings, tlsModes } from '../lib/tls.ts';

/** TLS to a foreign server, as the resources that connect to one have it in their settings. */

export const isHost = (value: string): boolean =>
  isIP(value) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9._-]*)$/.test(value);

const pem = (label: string) =>
  text(100_000, 1).refine((value) => value.includes(`-----BEGIN ${label}`), 'must be in PEM');
const certificates = pem('CERTIFICATE');
const key = text(100_000, 1)
  .refine((value) => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value), 'must be a private key in PEM')
  .describe('Never returned.');
const shape = {
  mode: z
    .enum(tlsModes)
    .describe(
      '`verify_full` checks the certificate and the name of the host, `require` only encrypts, `disable` sends everything in clear text.',
    ),
  ca: certificates.describe('Certificates to trust instead of the public authorities.'),
  client_certificate: certificates,
  client_key: key,
};

const createdFields = z
  .object({
    mode: optional(shape.mode, 'verify_full' as const),
    ca: optional(shape.ca),
    client_certificate: optional(shape.client_certificate),
    client_key: optional(shape.client_key),
  })
  .transform((tls) => withoutUndefined(tls) as TlsSettings);

/** In the body of a create or a test. */
export const createdTls = optional(createdFields).transform(
  (tls): TlsSettings => tls ?? { mode: 'verify_full' },
);

/** In the body of an update: merged key by key, null resets. */
export const changedTls = z
  .object({
    mode: shape.mode.nullish(),
    ca: shape.ca.nullish(),
    client_certificate: shape.client_certificate.nullish(),
    client_key: shape.client_key.nullish(),
  })
  .nullish();

export const mergedTls = (before: TlsSettings, changes: z.output<typeof changedTls>): TlsSettings => {
  if (changes === undefined) return before;
  if (changes === null) return { mode: 'verify_full' };
  const keep = <T>(old: T, next: T | null | undefined) => (next === undefined ? old : (next ?? undefined));
  return withoutUndefined({
    mode: keep(before.mode, changes.mode) ?? 'verify_full',
    ca: keep(before.ca, changes.ca),
    client_certificate: keep(before.client_certificate, changes.client_certificate),
    client_key: keep(before.client_key, changes.client_key),
  });
};

/** In a response: whether there is a key, not which. */
export const shownTls = z.object({
  mode: z.enum(tlsModes),
  ca: z.string().nullable(),
  client_certificate: z.string().nullable(),
  client_key_set: z.boolean(),
});

export const showTls = ({ mode, ca, client_certificate, client_key }: TlsSettings) => ({
  mode,
  ca: ca ?? null,
  client_certificate: client_certificate ?? null,
  client_key_set: client_key !== undefined,
});
