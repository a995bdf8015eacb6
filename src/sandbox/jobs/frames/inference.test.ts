import { describe, expect, test } from 'vitest';
import { type Cell, type CellKind, Column } from './column.ts';
import { readCsv } from './csv.ts';
import type { FrameDatatype } from './datatypes.ts';
import { readJson, readNdjson } from './json.ts';

const infer = (values: string[], kind: CellKind = 'cell', asked?: FrameDatatype) => {
  const column = new Column(asked);
  const fit = values.map((text) => column.add({ kind, text }));
  return { ...column.result, fit: fit.every(Boolean), ambiguous: column.isAmbiguous };
};

describe('the datatype of a column', () => {
  test.each<[FrameDatatype, ...string[]]>([
    ['String'],
    ['Boolean', 'true', 'FALSE', 'True'],
    ['Integer', '0', '-12', '999999999999999999'],
    ['Decimal', '1', '1.50', '-0.001'],
    ['Decimal', '1234567890123456789'],
    ['Decimal', '99999999999999999999999999999999999999'],
    ['String', '999999999999999999999999999999999999999'],
    ['String', '12345678901234567890123456789012345678', '0.5'],
    ['Date', '2026-02-28', '2024-02-29'],
    ['String', '2026-02-29'],
    ['String', '2026-13-01'],
    ['String', '0000-01-01'],
    ['DateTime', '2026-01-02T03:04', '2026-01-02 03:04:05.123456'],
    ['DateTimeTz', '2026-01-02T03:04:05Z', '2026-01-02 03:04:05+0530'],
    ['String', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05'],
    ['String', '2026-01-02', '2026-01-02T03:04:05'],
    ['String', '2026-01-02T24:00:00'],
    ['String', '007'],
    ['String', '1e5'],
    ['String', 'NaN'],
    ['String', '+1'],
    ['String', ' 1'],
    ['String', '1', 'true'],
    ['String', '1.5', '2026-01-02'],
    ['String', 'NULL', 'NA'],
  ])('is %s for %s %s', (datatype, ...values) => {
    expect(infer(values).datatype).toBe(datatype);
  });

  test('of a Decimal has the digits of all values', () => {
    expect(infer(['1000', '0.125', '-12.5'])).toMatchObject({ datatype: 'Decimal', precision: 7, scale: 3 });
  });

  test('is what the file says where the file has types', () => {
    expect(infer(['42'], 'text').datatype).toBe('String');
    expect(infer(['42'], 'string').datatype).toBe('String');
    expect(infer(['2026-01-02'], 'string').datatype).toBe('Date');
    expect(infer(['1', '2.5', '1e300'], 'number').datatype).toBe('Float');
    expect(infer(['2026-01-02T00:00:00.000'], 'date').datatype).toBe('Date');
    expect(infer(['2026-01-02T00:00:00.000', '2026-01-02T10:00:00.000'], 'date').datatype).toBe('DateTime');
    const mixed = new Column();
    for (const cell of [
      { kind: 'number', text: '1' },
      { kind: 'text', text: 'x' },
    ] as Cell[])
      mixed.add(cell);
    expect(mixed.result.datatype).toBe('String');
  });

  test.each<[boolean, ...string[]]>([
    [true, '007', '42'],
    [true, '42', '007'],
    [true, '03/04/2026'],
    [true, '1.234,56', '12'],
    [true, '1,5'],
    [false, 'a', '007'],
    [false, '2026-01-02', '3'],
    [false, '1', '2'],
  ])('is ambiguous: %s for %s %s', (ambiguous, ...values) => {
    expect(infer(values).ambiguous).toBe(ambiguous);
  });

  test('can be asked for, if every value fits', () => {
    expect(infer(['1', '2'], 'cell', 'String')).toMatchObject({ datatype: 'String', fit: true });
    expect(infer(['1', '2.25'], 'cell', 'Decimal')).toMatchObject({
      datatype: 'Decimal',
      scale: 2,
      fit: true,
    });
    expect(infer(['2026-01-02'], 'cell', 'DateTime').fit).toBe(true);
    expect(infer(['1', 'x'], 'cell', 'Integer').fit).toBe(false);
  });

  test.each<[FrameDatatype, given: string, as: string | null]>([
    ['Integer', '00042', '42'],
    ['Integer', ' +7 ', '7'],
    ['Integer', '-007.00', '-7'],
    ['Integer', '9223372036854775807', '9223372036854775807'],
    ['Integer', '9223372036854775808', null],
    ['Integer', '1.5', null],
    ['Integer', '1,234', null],
    ['Integer', '', null],
    ['Decimal', '007.50', '7.50'],
    ['Decimal', '.5', '0.5'],
    ['Decimal', '1e3', null],
    ['Float', ' +1.5e3', '1.5e3'],
    ['Float', '1e999', null],
    ['Boolean', 'Yes', 'true'],
    ['Boolean', '0', 'false'],
    ['Boolean', 'maybe', null],
    ['Date', ' 2026-01-31 ', '2026-01-31'],
    ['Date', '2026-01-31T00:00:00', '2026-01-31'],
    ['Date', '2026-02-30', null],
    ['Date', '31.01.2026', null],
    ['DateTime', '2026-01-31 08:00 ', '2026-01-31 08:00'],
    ['String', ' 007 ', ' 007 '],
  ])('that is asked for is a cast: %s of %j is %j', (datatype, given, as) => {
    expect(new Column(datatype).add({ kind: 'cell', text: given })).toBe(as);
  });
});

const csv = (text: string, separator?: string) =>
  [...readCsv(text, separator)].map((row) => row.map((cell) => cell?.text ?? null));

describe('a CSV file', () => {
  test.each<[string, string, (string | null)[][]]>([
    [
      'lines that end in all ways',
      'a,b\r\n1,2\n3,4\r5,6',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
        ['5', '6'],
      ],
    ],
    ['quotes', 'a,"b ""c""\nd",5" pipe,""\n', [['a', 'b "c"\nd', '5" pipe', null]]],
    ['text behind a quoted cell', '"a"b,c', [['ab', 'c']]],
    [
      'empty cells and lines',
      'a,b\n\n,\n1,\n',
      [
        ['a', 'b'],
        [null, null],
        ['1', null],
      ],
    ],
    ['one column with an empty line', 'a\n1\n\n2\n', [['a'], ['1'], [null], ['2']]],
    ['a separator at the very end', 'a,', [['a', null]]],
    ['blanks', ' a , NULL', [[' a ', ' NULL']]],
    ['semicolons', 'a;b,c;d', [['a', 'b,c', 'd']]],
    ['tabs', 'a\tb', [['a', 'b']]],
    ['pipes', 'a|b|c,d', [['a', 'b', 'c,d']]],
    ['a comma at a tie', 'a;b,c', [['a;b', 'c']]],
    ['separators in quotes', '"a;b;c\n;",d', [['a;b;c\n;', 'd']]],
    ['a quote that begins a cell of another separator', 'a|"b,c,d', [['a|"b', 'c', 'd']]],
    ['separators before a quote in a cell', 'a "b;c,d,e', [['a "b;c', 'd', 'e']]],
  ])('with %s is read', (_what, text, rows) => {
    expect(csv(text)).toEqual(rows);
  });

  test('of tabs is never split at commas', () => {
    expect(csv('a,b,c\td', '\t')).toEqual([['a,b,c', 'd']]);
  });

  test('whose quote does not end is unreadable, with its line', () => {
    expect(() => csv('a,b\n1,"2\n3,4')).toThrow('the quoted cell that begins in line 2 does not end');
  });
});

describe('a JSON file', () => {
  test('keeps every digit, and nested values as text', () => {
    const [row] = [
      ...readJson('[{"n": 0.10000000000000000550, "o": {"b": [1.0, "]"]}, "s": "42", "e": "", "z": null}]'),
    ];
    expect(row).toEqual([
      ['n', { kind: 'number', text: '0.10000000000000000550' }],
      ['o', { kind: 'text', text: '{"b":[1.0,"]"]}' }],
      ['s', { kind: 'string', text: '42' }],
      ['e', null],
      ['z', null],
    ]);
    expect([...readJson(' [ ] ')]).toEqual([]);
    for (const long of ['x'.repeat(12_000_000), '\\"'.repeat(3_000_000), '\\\\'])
      expect([...readJson(JSON.stringify([{ a: long }]))]).toEqual([[['a', { kind: 'string', text: long }]]]);
    expect([...readNdjson('{"a":true}\r\n\n{"b":1}')]).toHaveLength(2);
  });

  test.each([
    '{"a":1}',
    '[1]',
    '[{"a":1},]',
    '[,{"a":1}]',
    '[{"a":1}',
    '[{"a":1}] x',
    '[{"a":1}}',
    '[[1]]',
    '['.repeat(100_000),
    '',
  ])('that is %.20s is unreadable', (text) => {
    expect(() => [...readJson(text)]).toThrow(expect.objectContaining({ reason: 'unreadable' }));
  });
});
