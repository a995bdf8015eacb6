/** The deepest nesting, and the most values (objects and arrays included), of JSON that is scanned. */
export interface JsonLimits {
  depth: number;
  values: number;
}

/**
 * The limits of JSON that others send. Deeper JSON can corrupt the parser of the embedded database. Values cost time, in the
 * process that serves everyone, in proportion to their number. No one nests so deep, or sends so many, on purpose.
 */
export const sentJsonLimits: JsonLimits = { depth: 200, values: 200_000 };

export interface JsonScan {
  /** The limit that the JSON is over; null if it is within both. The rest of it is not scanned then. */
  over: keyof JsonLimits | null;
  /**
   * False if it may have text or a number that cannot be stored: NUL, half a surrogate pair, a number out of range. It is
   * true for nearly all JSON, whose value then needs no second look (`storageFaults`).
   */
  storable: boolean;
}

const backslash = 92;
const quote = 34;
const comma = 44;
/** No number of fewer digits is out of range. */
const manyDigits = 300;

/** The four hexadecimal digits from `at` as a number; NaN if they are none. */
const hexAt = (json: Uint8Array, at: number): number => {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const c = json[i]! | 0x20;
    if (c >= 48 && c <= 57) value = value * 16 + c - 48;
    else if (c >= 97 && c <= 102) value = value * 16 + c - 87;
    else return Number.NaN;
  }
  return value;
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * Counts the depth and the values of JSON in UTF-8 in one pass over its bytes, before anything is made of them: an object of
 * 780,000 keys in 9 MB takes 3 s to parse and check, and 10 ms to be refused. It does not check the grammar.
 */
export const scanJson = (json: Uint8Array, limits: JsonLimits): JsonScan => {
  let depth = 0;
  let values = 1;
  let storable = true;
  let digits = 0;
  /** True if a list or an object just began: the next value or key, if any, is its first. */
  let opened = false;
  for (let i = 0; i < json.length; i++) {
    const c = json[i]!;
    if (c === 32 || c === 10 || c === 13 || c === 9) continue;
    if (c === 93 || c === 125) {
      depth--;
      opened = false;
      digits = 0;
      continue;
    }
    if (opened || c === comma) {
      if (++values > limits.values) return { over: 'values', storable };
      opened = false;
    }
    if (c === quote) {
      for (i++; i < json.length && json[i] !== quote; i++) {
        if (json[i] !== backslash || json[++i] !== 117) continue;
        const unit = hexAt(json, i + 1);
        if (isHigh(unit)) {
          const paired = json[i + 5] === backslash && json[i + 6] === 117 && isLow(hexAt(json, i + 7));
          if (paired) i += 10;
          else storable = false;
        } else if (unit === 0 || isLow(unit)) storable = false;
      }
      digits = 0;
    } else if (c === 91 || c === 123) {
      if (++depth > limits.depth) return { over: 'depth', storable };
      opened = true;
      digits = 0;
    } else if (c >= 48 && c <= 57) {
      if (++digits > manyDigits) storable = false;
      // `1e400`, and not the `e` of `true`.
    } else if ((c | 0x20) === 101 && digits > 0) storable = false;
    else digits = 0;
  }
  return { over: null, storable };
};
