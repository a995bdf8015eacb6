import { field, WireReader } from './protobuf.ts';

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

/** `attributes` as the fields of a Resource {1: attributes {1: key, 2: value {1: string_value}}}. */
const encoded = (attributes: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(attributes).map(([key, value]) =>
      field(1, Buffer.concat([field(1, utf8(key)), field(2, field(1, utf8(value)))])),
    ),
  );

/**
 * The request with `attributes` in every resource, in the place of those of the same keys. Spans and unknown fields are
 * copied as they are, none is decoded. The bytes must be a request that `scan` accepted.
 *
 * Each resource is written whole. A second `resource` field with the new attributes would be shorter, since parsers must
 * merge the two, but not all do, and a key that occurs twice has no defined value.
 */
export const withResourceAttributes = (
  bytes: Buffer,
  attributes: Readonly<Record<string, string>>,
): Buffer => {
  const replaced = new Set(Object.keys(attributes));
  const added = encoded(attributes);
  const r = new WireReader(bytes);

  /** The key of a KeyValue, which ends at `end`: the last one counts. */
  const keyIn = (end: number): string => {
    let key = '';
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag !== 10) {
        r.skipField(tag, end);
        continue;
      }
      const keyEnd = r.fieldEnd(end);
      key = bytes.toString('utf8', r.at, keyEnd);
      r.at = keyEnd;
    }
    return key;
  };

  /** The fields of a Resource that stay. */
  const keptOf = (end: number): Buffer[] => {
    const kept: Buffer[] = [];
    while (r.at < end) {
      const start = r.at;
      const tag = r.tag(end);
      if (tag === 10) {
        if (replaced.has(keyIn(r.fieldEnd(end)))) continue;
      } else r.skipField(tag, end);
      kept.push(bytes.subarray(start, r.at));
    }
    return kept;
  };

  /** A ResourceSpans with one resource: several are the same as one with the fields of all. */
  const resourceSpans = (end: number): Buffer => {
    const resource: Buffer[] = [];
    const others: Buffer[] = [];
    while (r.at < end) {
      const start = r.at;
      const tag = r.tag(end);
      if (tag === 10) resource.push(...keptOf(r.fieldEnd(end)));
      else {
        r.skipField(tag, end);
        others.push(bytes.subarray(start, r.at));
      }
    }
    return Buffer.concat([field(1, Buffer.concat([...resource, added])), ...others]);
  };

  const request: Buffer[] = [];
  while (r.at < bytes.length) {
    const start = r.at;
    const tag = r.tag(bytes.length);
    if (tag === 10) request.push(field(1, resourceSpans(r.fieldEnd(bytes.length))));
    else {
      r.skipField(tag, bytes.length);
      request.push(bytes.subarray(start, r.at));
    }
  }
  return Buffer.concat(request);
};
