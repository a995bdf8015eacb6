declare global {
  interface JSON {
    /** What JSON.stringify writes as it is (https://tc39.es/proposal-json-parse-with-source/). */
    rawJSON(text: string): object;
  }
  interface BigInt {
    toJSON(): object;
  }
}

// Else JSON.stringify throws. A replacer at each of its calls would cost every answer, this only what has such an
// integer.
BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(this.toString());
};

/** 16 digits in a row outside quotes may be an integer that a JavaScript number cannot hold. */
const mayHoldLargeInteger = /[:[,\s]-?\d{16}/;

const integer = /^-?\d+$/;

/** Whether JSON.stringify of `value` has the digits of `source`, the integer that it was read from. */
const keepsDigits = (source: string, value: number): boolean => {
  const [digits, exponent] = Math.abs(value).toExponential().split('e');
  return digits!.replace('.', '').padEnd(Number(exponent) + 1, '0') === source.replace('-', '');
};

const keepInteger = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' &&
  source !== undefined &&
  Number.isFinite(value) &&
  integer.test(source) &&
  !keepsDigits(source, value)
    ? BigInt(source)
    : value;

/**
 * JSON.parse for JSON that is kept and handed on: an integer that a number would round (an id of 64 bits) becomes
 * a BigInt, which JSON.stringify writes digit for digit. What is beyond a number's range (`1e400`) is Infinity.
 * Throws SyntaxError.
 */
export const parseJson = (text: string): unknown =>
  mayHoldLargeInteger.test(text)
    ? JSON.parse(text, keepInteger as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text);
