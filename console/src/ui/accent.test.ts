import { expect, test } from 'vitest';
import { accentOf, contrast, readColor } from './accent.ts';

test('contrast is that of WCAG', () => {
  expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21);
  expect(contrast([119, 119, 119], [255, 255, 255])).toBeCloseTo(4.48, 2);
});

test('every color becomes an accent that can be read in both schemes', () => {
  const grounds = { light: [0xf1, 0xf3, 0xf6], dark: [0x1a, 0x20, 0x29] } as const;
  for (const color of ['#ffcc00', '#000000', '#ffffff', '#1f6feb', '#808080', '#ff0000']) {
    for (const scheme of ['light', 'dark'] as const) {
      const accent = accentOf(color, scheme)!;
      expect(
        contrast(readColor(accent.color)!, [...grounds[scheme]]),
        `${color} ${scheme}`,
      ).toBeGreaterThanOrEqual(4.5);
    }
  }
});

test('a color that is good enough stays, and another is said to be changed', () => {
  expect(accentOf('#3a4bb8', 'light')).toMatchObject({ color: '#3a4bb8', changed: false });
  expect(accentOf('#ffcc00', 'light')?.changed).toBe(true);
  expect(accentOf('blue', 'light')).toBeNull();
});
