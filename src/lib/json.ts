declare global {
  interface JSON {
    /** Returns an object that JSON.stringify writes as `text` (https://tc39.es/proposal-json-parse-with-source/). */
    rawJSON(text: string): object;
  }
  interface BigInt {
    toJSON(): object;
  }
}

// Without it JSON.stringify throws. A replacer in each of its calls would cost every response; this costs only those
// with such an integer.
BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(this.toString());
};

/** 16 digits in a row outside quotes may be an integer that a JavaScript number cannot hold. */
const mayHoldLargeInteger = /[:[,\s]-?\d{16}/;

const integer = /^-?\d+$/;

/** JSON.parse in which an integer beyond 2^53 becomes a BigInt, unless `staysNumber`. Throws SyntaxError. */
const parse = (text: string, staysNumber: (source: string, value: number) => boolean): unknown => {
  if (!mayHoldLargeInteger.test(text)) return JSON.parse(text);
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    Number.isFinite(value) &&
    integer.test(source) &&
    !staysNumber(source, value)
      ? BigInt(source)
      : value) as Parameters<typeof JSON.parse>[1]);
};

/** Returns whether JSON.stringify of `value` has the digits of `source`, the integer that it was parsed from. */
const keepsDigits = (source: string, value: number): boolean => {
  const [digits, exponent] = Math.abs(value).toExponential().split('e');
  return digits!.replace('.', '').padEnd(Number(exponent) + 1, '0') === source.replace('-', '');
};

/**
 * JSON.parse for JSON that is stored and passed on: an integer that a number would round (an id of 64 bits) becomes a
 * BigInt, which JSON.stringify writes with all its digits. A number out of range (`1e400`) becomes Infinity. Throws
 * SyntaxError.
 */
export const parseJson = (text: string): unknown => parse(text, keepsDigits);

/**
 * JSON.parse for integers whose value matters: all beyond 2^53 become BigInts. A number may keep the digits but not the
 * value: 9223372036854776000 is stored as 9223372036854775808. Throws SyntaxError.
 */
export const parseExactJson = (text: string): unknown => parse(text, () => false);
