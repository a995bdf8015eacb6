import { expect, test } from 'vitest';
import { rfc8785 } from './rfc8785.ts';

test('keys are in the order of their UTF-16 code units, also those that look like numbers (RFC 8785, 3.2.3)', () => {
  const value = {
    '\u20ac': 1,
    '\r': 2,
    '\ufb33': 3,
    '1': 4,
    '\u{1f600}': 5,
    '\u0080': 6,
    '\u00f6': 7,
    '10': 8,
    '9': 9,
  };
  expect(rfc8785(value)).toBe(
    '{"\\r":2,"1":4,"10":8,"9":9,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
  );
});

test('numbers, texts and nesting are those of RFC 8785, 3.2.2', () => {
  const value = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0],
    string: '\u20ac$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
    absent: undefined,
    inner: { b: [{ z: 1, a: 2 }], a: {} },
  };
  expect(rfc8785(value)).toBe(
    '{"inner":{"a":{},"b":[{"a":2,"z":1}]},"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});
