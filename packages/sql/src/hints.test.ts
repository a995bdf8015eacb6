import { describe, expect, it } from 'vitest';
import { refusalOf } from '../tests/refusals.ts';
import { parseExpression, type SqlRefusal } from './index.ts';

describe('positions', () => {
  it.each([
    ["SELECT 'é日本😀', nope FROM orders", 'nope'],
    ['SELECT id\nFROM   missing', 'missing'],
    ['SELECT id FROM orders WHERE pg_sleep(1)', 'pg_sleep'],
    ["SELECT /* 日本 */ 'x' || lower(id) FROM orders", 'lower'],
  ])('%s', (sql, word) => {
    const position = [...sql.slice(0, sql.indexOf(word))].length + 1;
    const refusal = refusalOf(sql);
    if (word === 'lower') expect(refusal.details.position).toBe(position + 'lower('.length);
    else expect(refusal.details.position).toBe(position);
  });

  it('of a syntax error is where the parser stopped', () => {
    expect(refusalOf("SELECT 'é', FROM orders").details).toMatchObject({
      reason: 'syntax_error',
      name: 'FROM',
      position: 13,
    });
    expect(refusalOf('SELECT 1 +').details).toMatchObject({ position: 11 });
  });

  it('of an expression counts from its first character', () => {
    const positionOf = (text: string) => {
      try {
        parseExpression(text);
      } catch (error) {
        return (error as SqlRefusal).details.position;
      }
      return undefined;
    };
    expect(positionOf('1 + pg_sleep(1)')).toBe(5);
    expect(positionOf('1 + ) 2')).toBe(5);
    expect(positionOf('a FROM b')).toBe(1);
    expect(positionOf('a, b')).toBe(1);
    expect(positionOf('a AS b')).toBe(1);
    expect(positionOf('a; DROP TABLE b')).toBe(4);
    expect(positionOf('a LIMIT 1')).toBe(1);
    expect(positionOf('')).toBe(1);
  });
});

describe('suggestions', () => {
  it.each([
    ['SELECT statsu FROM orders', ['status']],
    ['SELECT * FROM oders', ['orders']],
    ['SELECT o.amont FROM orders o', ['amount']],
    ['SELECT order.id FROM orders', undefined],
    ['SELECT ordrs.id FROM orders', ['orders.id']],
    ['SELECT lowr(status) FROM orders', expect.arrayContaining(['lower'])],
    ['SELECT date_trnc(day) FROM orders', ['date_trunc']],
  ])('%s', (sql, expected) => {
    const { details } = refusalOf(sql);
    if (expected !== undefined) expect(details.suggestions).toEqual(expected);
  });
});
