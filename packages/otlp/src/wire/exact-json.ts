/** 16 digits in a row outside quotes may be an integer that a JavaScript number cannot hold. */
const mayHoldLargeInteger = /[:[,\s]-?\d{16}/;

const integer = /^-?\d+$/;

/** JSON.parse in which an integer beyond 2^53 becomes a BigInt. Throws SyntaxError. */
export const parseExactJson = (text: string): unknown => {
  if (!mayHoldLargeInteger.test(text)) return JSON.parse(text);
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    Number.isFinite(value) &&
    integer.test(source)
      ? BigInt(source)
      : value) as Parameters<typeof JSON.parse>[1]);
};
