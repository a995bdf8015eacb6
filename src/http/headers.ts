import { z } from 'zod';
import { isObject } from '../lib/objects.ts';

const maxHeaders = 64;
/** The limit for the name and the value of one header together, in bytes. */
const maxHeaderBytes = 8_192;

/** A token (RFC 9110, section 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * A field value (RFC 9110, section 5.5) without the obsolete bytes beyond ASCII: spaces and tabs only inside, no
 * control characters.
 */
const fieldValue = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/;

/** Headers that the sender of a request or the connection itself sets. */
const reserved =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|proxy-.*|content-.*)$/i;

/** The value of an HTTP header. */
export const headerValue = z
  .string()
  .min(1, 'must not be empty')
  .max(maxHeaderBytes, `must have at most ${maxHeaderBytes.toLocaleString('en')} characters`)
  .regex(fieldValue, 'must be visible ASCII characters, with spaces or tabs only between them');

/** The name of an HTTP header. `taken` are names, in lower case, that the sender sets itself. */
export const headerName = (taken: readonly string[] = []) =>
  z
    .string()
    .max(256, 'must have at most 256 characters')
    .regex(token, 'must be the name of an HTTP header')
    .refine((name) => !reserved.test(name), 'is a header that the connection or the sender sets itself')
    .refine((name) => !taken.includes(name.toLowerCase()), 'is a header that is set already');

/**
 * A map of custom header names to values, kept as it was sent. `taken` are more names, in lower case, that the sender
 * sets itself; `most` is how many the map may have. Messages contain names of headers, never values.
 */
export const headerMap = (taken: readonly string[] = [], most = maxHeaders) =>
  z
    .custom<Record<string, string>>(isObject, 'must be an object of header names and values')
    .superRefine((headers, context) => {
      const fault = (name: string | null, message: string) =>
        context.addIssue({ code: 'custom', path: name === null ? [] : [name], message });
      const entries = Object.entries(headers);
      if (entries.length > most) return fault(null, `must have at most ${most} headers`);
      const seen = new Set<string>();
      for (const [name, value] of entries) {
        const lower = name.toLowerCase();
        if (!token.test(name)) fault(name, 'is not an HTTP header name');
        else if (reserved.test(name))
          fault(name, 'is a header that the connection or the sender sets itself');
        else if (taken.includes(lower)) fault(name, 'is a header that is set already');
        else if (seen.has(lower)) fault(name, 'is there twice: header names are equal but for case');
        else if (typeof value !== 'string') fault(name, 'expected a string');
        else if (!fieldValue.test(value)) {
          fault(name, 'must be visible ASCII characters, with spaces or tabs only between them');
        } else if (name.length + value.length > maxHeaderBytes) {
          fault(
            name,
            `must have at most ${maxHeaderBytes.toLocaleString('en')} bytes, name and value together`,
          );
        }
        seen.add(lower);
      }
    })
    .meta({
      openapi: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: most },
    });
