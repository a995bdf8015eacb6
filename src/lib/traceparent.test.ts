import { expect, test } from 'vitest';
import { newTraceparent, parseTraceparent } from './traceparent.ts';

const ids = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';

test.each([
  [`00-${ids}-01`, `00-${ids}-01`],
  [`00-${ids}-ff`, `00-${ids}-ff`],
  [`01-${ids}-01`, `00-${ids}-01`],
  [`01-${ids}-01-extra`, `00-${ids}-01`],
  [`fe-${ids}-fe-`, `00-${ids}-00`],
])('%s is parsed as %s', (header, parsed) => expect(parseTraceparent(header)).toBe(parsed));

test.each([
  '',
  'x',
  `ff-${ids}-01`,
  `00-${ids}-01-extra`,
  `00-${ids}-01-`,
  `01-${ids}-01extra`,
  `01-${ids}`,
  `00-${ids.toUpperCase()}-01`,
  `01-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `01-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
])('"%s" is malformed', (header) => expect(parseTraceparent(header)).toBeUndefined());

test('a header that was sent twice or not at all is undefined', () => {
  expect(parseTraceparent([`00-${ids}-01`, `00-${ids}-01`])).toBeUndefined();
  expect(parseTraceparent(undefined)).toBeUndefined();
});

test('a new traceparent is valid; a given one is kept', () => {
  const made = newTraceparent(undefined);
  expect(parseTraceparent(made)).toBe(made);
  expect(newTraceparent(undefined)).not.toBe(made);
  expect(newTraceparent(`00-${ids}-01`)).toBe(`00-${ids}-01`);
});
