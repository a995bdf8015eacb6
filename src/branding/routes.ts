import { imageSize } from 'image-size';
import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database, Tx } from '../database/index.ts';
import { type Route, route, text, timestamp } from '../http/index.ts';
import { fingerprint } from '../lib/crypto.ts';
import { withoutUndefined } from '../lib/objects.ts';
import type { Actor } from '../lib/principal.ts';
import { type Branding, type BrandingFields, findBranding, lockBranding, updateBranding } from './store.ts';

const maxLogoBytes = 256 * 1024;
/** The limit of each side. */
const maxLogoPixels = 2_048;
const maxLogoUrl = 'data:image/jpeg;base64,'.length + Math.ceil(maxLogoBytes / 3) * 4;

const dataUrl = /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/;
/** The first bytes of a file of each type; `.` is any byte. */
const signatures = {
  png: /^\x89PNG\r\n\x1a\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF.{4}WEBP/s,
};

/**
 * Returns why `url` is not a logo, or null. The type is read from the bytes: an SVG or HTML file named `image/png` is
 * refused.
 */
const logoFault = (url: string): string | null => {
  const [, type, base64] = (url.length <= maxLogoUrl && dataUrl.exec(url)) || [];
  if (url.length > maxLogoUrl) return `must have at most ${maxLogoBytes / 1024} KiB`;
  if (!type || !base64) return 'must be a data URL of a PNG, JPEG or WebP image: data:image/png;base64,…';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return 'must be encoded in base64 with its padding';
  if (bytes.length > maxLogoBytes) return `must have at most ${maxLogoBytes / 1024} KiB`;
  if (!signatures[type as keyof typeof signatures].test(bytes.toString('latin1', 0, 16))) {
    return `is not a ${type} image, as its data URL says`;
  }
  try {
    const { width, height } = imageSize(bytes);
    if (Math.max(width, height) <= maxLogoPixels && Math.min(width, height) > 0) return null;
    return `must have at most ${maxLogoPixels.toLocaleString('en')} pixels a side`;
  } catch {
    return `is not a ${type} image that can be read`;
  }
};

const withCheck = (schema: z.ZodType<string, string>, faultOf: (value: string) => string | null) =>
  schema.superRefine((value, context) => {
    const message = value === '' ? null : faultOf(value);
    if (message) context.addIssue({ code: 'custom', message });
  });

/** A field that null or `''` clears. */
const clearable = <S extends z.ZodType<string, string>>(schema: S) =>
  schema
    .nullable()
    .optional()
    .transform((value) => (value === null ? '' : value));

const logo = clearable(
  withCheck(z.string(), logoFault).meta({
    openapi: { type: 'string', maxLength: maxLogoUrl, examples: ['data:image/png;base64,iVBORw0KGgo…'] },
  }),
).describe(
  `A PNG, JPEG or WebP image as a data URL, at most 256 KiB and 2,048 pixels a side. Empty or null clears it.`,
);

export const updateBody = z
  .object({
    workspace_name: clearable(
      withCheck(text(40), (value) => (/[\p{Cc}\u2028\u2029]/u.test(value) ? 'must be one line' : null)),
    ).describe('At most 40 characters, one line. Empty or null clears it.'),
    logo_data_url: logo,
    logo_dark_data_url: logo,
    primary_color: clearable(
      withCheck(z.string(), (value) =>
        /^#[0-9a-f]{6}$/i.test(value) ? null : 'must be a color such as #1f6feb',
      ),
    )
      .transform((value) => value?.toLowerCase())
      .describe('`#RRGGBB`. Empty or null clears it.'),
  })
  .meta({ id: 'UpdateBrandingBody' });

export const branding = z
  .object({
    workspace_name: z.string(),
    logo_data_url: z.string().describe('Empty if there is none, like every text here.'),
    logo_dark_data_url: z.string().describe('For a dark background.'),
    primary_color: z.string().describe('`#rrggbb`.'),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Branding' });

/** The fields for the audit log. A logo is too long for it, so its fingerprint is logged. */
const forAudit = (fields: Partial<BrandingFields>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name.startsWith('logo') && value !== '' ? fingerprint(value) : value,
    ]),
  );

/** Changes the fields that `fields` has. `ifMatch` is called for the locked row. */
export const changeBranding = async (
  tx: Tx,
  actor: Actor,
  fields: Partial<BrandingFields>,
  ifMatch: (revision: number) => void = () => {},
): Promise<Branding> => {
  const before = await lockBranding(tx);
  ifMatch(before.revision);
  if (Object.keys(fields).length === 0) return before;
  const after = await updateBranding(tx, fields);
  await audit(tx, actor, 'branding.update', null, forAudit(fields));
  return after;
};

export const brandingRoutes = (db: Database): Route[] => [
  route({
    id: 'getBranding',
    role: 'member',
    scope: 'settings:read',
    method: 'GET',
    path: '/branding',
    summary: 'Get the branding',
    response: branding,
    etag: true,
    handler: async ({ etag }) => {
      const found = await db.run(findBranding);
      etag(found.revision);
      return found;
    },
  }),
  route({
    id: 'updateBranding',
    role: 'admin',
    scope: 'settings',
    method: 'PATCH',
    path: '/branding',
    summary: 'Update the branding',
    body: updateBody,
    response: branding,
    etag: true,
    handler: ({ body, transaction, ifMatch, etag, actor }) =>
      transaction(async (tx) => {
        const after = await changeBranding(tx, actor, withoutUndefined(body), ifMatch);
        etag(after.revision);
        return after;
      }),
  }),
  route({
    id: 'getSignInBranding',
    role: 'anyone',
    scope: null,
    method: 'GET',
    base: 'app',
    path: '/branding',
    summary: 'Get the branding for the sign-in page',
    response: branding,
    handler: () => db.run(findBranding),
  }),
];
