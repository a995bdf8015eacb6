import { imageSize } from 'image-size';
import { z } from 'zod';
import { text } from '../http/index.ts';
import { Field } from '../resource/index.ts';

/** The fields of the branding, each written once. Empty text is none. */

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

/** A text that null or `''` clears. `shown`: what a response says of it. */
const clearable = (schema: z.ZodType<string, string>, about: string, shown?: string) => {
  const patch = schema
    .nullable()
    .optional()
    .transform((value) => (value === null ? '' : value))
    .describe(about);
  const output = shown === undefined ? z.string() : z.string().describe(shown);
  return new Field<typeof schema, typeof patch, typeof patch, typeof output, string>({
    schema,
    create: patch,
    patch,
    shown: output,
    fallback: '',
  });
};

const logo = withCheck(z.string(), logoFault).meta({
  openapi: { type: 'string', maxLength: maxLogoUrl, examples: ['data:image/png;base64,iVBORw0KGgo…'] },
});
const aboutLogo =
  'A PNG, JPEG or WebP image as a data URL, at most 256 KiB and 2,048 pixels a side. Empty or null clears it.';

const oneLine = withCheck(text(40), (value) =>
  /[\p{Cc}\u2028\u2029]/u.test(value) ? 'must be one line' : null,
);

const color = withCheck(z.string(), (value) =>
  /^#[0-9a-f]{6}$/i.test(value) ? null : 'must be a color such as #1f6feb',
).transform((value) => value.toLowerCase());

export const fields = {
  workspace_name: clearable(oneLine, 'At most 40 characters, one line. Empty or null clears it.'),
  logo_data_url: clearable(logo, aboutLogo, 'Empty if there is none, like every text here.'),
  logo_dark_data_url: clearable(logo, aboutLogo, 'For a dark background.'),
  primary_color: clearable(color, '`#RRGGBB`. Empty or null clears it.', '`#rrggbb`.'),
};
