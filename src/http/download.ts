/** The bytes that a Range header asks for, the last one included. */
interface ByteRange {
  first: number;
  last: number;
}

/**
 * Reads a Range header (RFC 9110, section 14.2) for a content of `size` bytes: null for the whole of it, also for what is
 * not a single range of bytes; `unsatisfiable` for one that begins after its end.
 */
const readRange = (header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null => {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [from, to] = [match[1]!, match[2]!];
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= size ? 'unsatisfiable' : { first, last };
};

/** The content of a response that can be anything. */
export const anyContent = { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } };

/** The responses of a route that responds with `download`, for the OpenAPI document. */
export const downloadDocument = {
  responses: {
    200: { description: 'The content.', ...anyContent },
    206: { description: 'The part of the content that Range asks for.', ...anyContent },
    416: { description: 'Range asks for nothing that is there.' },
  },
};

/** No browser shows a download as a page or runs anything of it, whatever it contains. */
export const downloadHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
};

/**
 * The response that saves `text` as a file, or the part of it that `range` asks for. No browser shows it as a page,
 * whatever it contains.
 */
export const download = (
  { text, type, name }: { text: string; type: string; name: string },
  range: string | undefined,
): Response => {
  const bytes = Buffer.from(text);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
    ...downloadHeaders,
    'accept-ranges': 'bytes',
  };
  const wanted = readRange(range, bytes.length);
  if (wanted === null) return new Response(bytes, { headers });
  if (wanted === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { 'content-range': `bytes */${bytes.length}` } });
  }
  const { first, last } = wanted;
  return new Response(bytes.subarray(first, last + 1), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${last}/${bytes.length}` },
  });
};
