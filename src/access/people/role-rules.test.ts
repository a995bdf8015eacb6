import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Role, roles } from '../../lib/principal.ts';
import { claimAt, claimPath, valuesOf } from './claims.ts';
import type { MappingFields } from './role-mapping-store.ts';
import { roleRules } from './role-rules.ts';
import type { Claims } from './store.ts';

const mapping = (claim: string, value: string, role: Role = 'member', priority = 0): MappingFields => ({
  claim,
  value,
  role,
  priority,
});
const rules = (...mappings: MappingFields[]) => roleRules(mappings, 'email_verified');
const roleIn = (claims: Claims, ...mappings: MappingFields[]) =>
  rules(...mappings).decide(claims)?.role ?? null;

describe('which mapping decides', () => {
  test('the highest priority, then the highest role, then the first', () => {
    const claims = { groups: ['a', 'b', 'c'] };
    expect(roleIn(claims, mapping('groups', 'a'), mapping('groups', 'b', 'admin'))).toBe('admin');
    expect(roleIn(claims, mapping('groups', 'a', 'member', 1), mapping('groups', 'b', 'admin'))).toBe(
      'member',
    );
    const equals = [mapping('groups', 'c', 'builder', 5), mapping('groups', 'a', 'builder', 5)];
    expect(rules(...equals).decide(claims)).toBe(equals[0]);
    expect(rules(...equals.toReversed()).decide(claims)).toBe(equals[1]);
  });

  test('values are equal or they are not: no case, blank, wildcard, prefix or split', () => {
    for (const value of ['Admins', 'admins ', 'admin', 'admin*', '*', 'ops', 'admins,ops']) {
      expect(roleIn({ groups: 'admins,ops ' }, mapping('groups', value))).toBeNull();
      expect(roleIn({ groups: ['admins'] }, mapping('groups', value))).toBeNull();
    }
    expect(roleIn({ groups: 'Å' }, mapping('groups', 'Å'.normalize('NFD')))).toBeNull();
  });

  test('what is inherited is no claim', () => {
    for (const claim of ['constructor', '__proto__', 'hasOwnProperty', '/constructor/name', '/__proto__/x']) {
      expect(roleIn({}, mapping(claim, 'Object', 'admin'))).toBeNull();
    }
    expect(roleIn({ groups: ['constructor'] }, mapping('groups', 'toString', 'admin'))).toBeNull();
    expect(roleIn(JSON.parse('{"__proto__": ["x"]}'), mapping('__proto__', 'x', 'admin'))).toBe('admin');
  });
});

describe('a mapping of the e-mail', () => {
  const verified = (email: unknown) => ({ email, email_verified: true });

  test.each([
    ['ada@example.com', 'ADA@Example.com', true],
    ['ADA@example.COM', 'ada@example.com', true],
    ['@example.com', 'ada@Example.com', true],
    ['@EXAMPLE.com', 'ada@example.com', true],
    ['@example.com', 'ada@sub.example.com', false],
    ['@example.com', 'ada@notexample.com', false],
    ['@example.com', 'ada@example.com.evil.example', false],
    ['@example.com', 'a@b@example.com', false],
    ['@example.com', 'evil@evil.example@example.com', false],
    ['@example.com', '@example.com', false],
    ['@example.com', 'example.com', false],
    ['example.com', 'ada@example.com', false],
    ['@kelvin.example', 'ada@\u212aelvin.example', false],
    ['@', 'ada@', false],
  ])('%s and the verified address %s: %s', (value, email, matches) =>
    expect(roleIn(verified(email), mapping('email', value)) !== null).toBe(matches),
  );

  test('only a verified address matches, also by its pointer', () => {
    for (const claim of ['email', '/email']) {
      for (const value of ['ada@example.com', '@example.com']) {
        expect(roleIn({ email: 'ada@example.com' }, mapping(claim, value))).toBeNull();
        expect(roleIn(verified('ada@example.com'), mapping(claim, value))).toBe('member');
      }
    }
  });

  test('another claim of an address is compared like any text', () => {
    expect(roleIn(verified('x@y.example'), mapping('upn', '@example.com'))).toBeNull();
    expect(roleIn({ upn: 'Ada@example.com' }, mapping('upn', 'ada@example.com'))).toBeNull();
    expect(roleIn({ upn: 'ada@example.com' }, mapping('upn', 'ada@example.com'))).toBe('member');
  });
});

describe('incomplete claims', () => {
  const overage = { hasgroups: true, _claim_names: { groups: 'src1', wids: 'src1' } };

  test('they matter to mappings of the claim and of what is inside it, and to no other', () => {
    expect(rules(mapping('groups', 'a')).incomplete(overage)).toEqual(['groups']);
    expect(rules(mapping('/groups/0', 'a')).incomplete(overage)).toEqual(['groups']);
    expect(rules(mapping('/wids', 'a'), mapping('groups', 'b')).incomplete(overage).sort()).toEqual([
      'groups',
      'wids',
    ]);
    expect(rules(mapping('roles', 'a'), mapping('Groups', 'a')).incomplete(overage)).toEqual([]);
    expect(rules().incomplete(overage)).toEqual([]);
  });
});

describe('the explanation', () => {
  test('names why a mapping does not apply, and what was found', () => {
    const mappings = [
      mapping('groups', 'a', 'member'),
      mapping('groups', 'b', 'admin'),
      mapping('absent', 'a'),
      mapping('nothing', 'a'),
      mapping('email', '@example.com'),
      mapping('email', '@other.example'),
      mapping('wids', 'a'),
    ];
    const explained = rules(...mappings).explain({
      groups: ['a', 'a', 'c'],
      nothing: null,
      email: 'x@example.com',
      _claim_names: { wids: 's' },
    });
    expect(explained.matched).toEqual([mappings[0]]);
    const byMapping = new Map(
      explained.ignored.map(({ mapping, reason, found }) => [mapping, [reason, found]]),
    );
    expect(mappings.slice(1).map((one) => byMapping.get(one))).toEqual([
      ['value_differs', ['a', 'c']],
      ['claim_absent', []],
      ['claim_absent', []],
      ['email_not_verified', ['x@example.com']],
      ['value_differs', ['x@example.com']],
      ['claims_incomplete', []],
    ]);
  });

  test('begins with the mapping that decides, and agrees with a plain comparison of all', () => {
    const value = fc.constantFrom('a', 'b', 'c', 'true', '7', 'k');
    const claim = fc.constantFrom('x', 'y', '/x/k', '/y/0', 'z');
    const claimValue = fc.oneof(
      value,
      fc.constantFrom<unknown>(true, 7, null),
      fc.array(fc.oneof(value, fc.array(value, { maxLength: 1 }), fc.constant({ k: 1 })), { maxLength: 3 }),
      fc.dictionary(value, value, { maxKeys: 2 }),
    );
    const mappings = fc.array(
      fc.record({ claim, value, role: fc.constantFrom(...roles), priority: fc.integer({ min: 0, max: 2 }) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(mappings, fc.dictionary(fc.constantFrom('x', 'y'), claimValue), (mappings, claims) => {
        const matching = mappings.filter((one) =>
          valuesOf(claimAt(claims, claimPath(one.claim)!)).includes(one.value),
        );
        const best = matching.reduce<MappingFields | null>((top, one) => {
          if (!top || one.priority > top.priority) return one;
          const higher = roles.indexOf(one.role) > roles.indexOf(top.role);
          return one.priority === top.priority && higher ? one : top;
        }, null);
        const { decide, explain } = rules(...mappings);
        expect(decide(claims)).toEqual(best);
        const { matched, ignored } = explain(claims);
        expect(matched[0] ?? null).toEqual(best);
        expect(new Set(matched)).toEqual(new Set(matching));
        expect(matched.length + ignored.length).toBe(mappings.length);
      }),
      { numRuns: 500 },
    );
  });
});
