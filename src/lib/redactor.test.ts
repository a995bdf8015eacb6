import { expect, test } from 'vitest';
import { Redactor } from './redactor.ts';

const secret = 'SECRETKEY999?>~ÿ';

test.each(['', 'a', 'ab', 'Bearer ', '{"x":"', 'user:'])('finds a secret in base64, after %j', (before) => {
  for (const after of ['', '"', 'xy', '\n\n\n']) {
    const bytes = Buffer.from(before + secret + after);
    for (const encoding of ['base64', 'base64url'] as const) {
      const shown = new Redactor([secret]).text(`it said ${bytes.toString(encoding)}.`);
      expect(shown).toContain('[redacted]');
      const left = shown.replace(/^it said |\.$/g, '').replace('[redacted]', '');
      // The text next to it, and at each end at most one character of which it decides some bits, are left.
      expect(left.length).toBeLessThanOrEqual(
        Math.ceil((before.length * 4) / 3) + Math.ceil((after.length * 4) / 3) + 4,
      );
    }
  }
  expect(new Redactor([secret]).text(Buffer.from(secret).toString('base64'))).toBe('[redacted]');
  expect(new Redactor([secret]).text(Buffer.from(secret).toString('base64url'))).toBe('[redacted]');
});
