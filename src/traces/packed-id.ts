const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * An id as rows of traces have it: `u` and the 16 bytes of a UUID in base64url, which are 23 characters for 36, else `t`
 * and the text. With two of them in each of millions of rows and their indexes, that is a tenth of all bytes.
 */
export const packId = (id: string): string =>
  uuid.test(id) ? `u${Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')}` : `t${id}`;

export const unpackId = (packed: string): string => {
  if (packed[0] !== 'u') return packed.slice(1);
  const hex = Buffer.from(packed.slice(1), 'base64url').toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
