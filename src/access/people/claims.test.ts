import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../lib/json.ts';
import {
  claimAt,
  claimPath,
  cleanName,
  incompleteClaims,
  isEmailVerified,
  profileOf,
  valuesOf,
} from './claims.ts';
import type { Claims } from './store.ts';

const parse = (text: string) => parseJson(text) as Claims;

describe('the values of a claim', () => {
  test.each([
    ['"admins"', ['admins']],
    ['""', ['']],
    ['" a, b "', [' a, b ']],
    ['7', ['7']],
    ['-1.50', ['-1.5']],
    [' 12345678901234567890', ['12345678901234567890']],
    ['true', ['true']],
    ['false', ['false']],
    ['null', []],
    ['[]', []],
    ['{}', []],
    ['["a", 1, true, null, {"b": 1, "c": 2}]', ['a', '1', 'true', 'b', 'c']],
    ['["a", ["b"], [["c"]]]', ['a']],
    ['{"builder": {"id": "x"}, "__proto__": 1, "constructor": 2}', ['builder', '__proto__', 'constructor']],
    ['{"staff": false, "crew": null, "zero": 0, "empty": "", "on": true}', ['zero', 'empty', 'on']],
  ])('%s has %j', (json, values) => expect(valuesOf(parseJson(json))).toEqual(values));

  test('a claim that is absent has none', () => expect(valuesOf(undefined)).toEqual([]));
});

describe('the path to a claim', () => {
  const claims = parse(`{
    "realm_access": {"roles": ["x"]}, "realm_access.roles": "flat", "a/b": 1, "m~n": 2, "": {"": 3}, "list": ["p", {"q": 4}],
    "text": "abc", "__proto__": {"own": 5}, "constructor": 6, "nothing": null, "0": "zero", "~01": 7,
    "https://example.com/roles": ["url"]
  }`);

  test.each([
    ['realm_access', { roles: ['x'] }],
    ['realm_access.roles', 'flat'],
    ['/realm_access/roles', ['x']],
    ['/realm_access/roles/0', 'x'],
    ['a/b', 1],
    ['/a~1b', 1],
    ['/a/b', undefined],
    ['m~n', 2],
    ['/m~0n', 2],
    ['/~001', 7],
    ['/', { '': 3 }],
    ['//', 3],
    ['/list/1/q', 4],
    ['/list/01', undefined],
    ['/list/-', undefined],
    ['/list/-1', undefined],
    ['/list/2', undefined],
    ['/list/length', undefined],
    ['/list/1e0', undefined],
    ['/list/99999999999999999999', undefined],
    ['/text/0', undefined],
    ['/text/length', undefined],
    ['/0', 'zero'],
    ['__proto__', { own: 5 }],
    ['/__proto__/own', 5],
    ['/__proto__/constructor', undefined],
    ['constructor', 6],
    ['hasOwnProperty', undefined],
    ['toString', undefined],
    ['/realm_access/toString', undefined],
    ['/realm_access/__proto__', undefined],
    ['nothing', null],
    ['/nothing/x', undefined],
    ['https://example.com/roles', ['url']],
    ['Realm_access', undefined],
  ])('%s finds %j', (claim, value) => expect(claimAt(claims, claimPath(claim)!)).toEqual(value));

  test.each(['/~', '/a~', '/~2', '/a~2b', '/a/~/b', '/~0~', '/~~0'])('%s is malformed', (claim) =>
    expect(claimPath(claim)).toBeNull(),
  );

  test.each(['~2', 'a~', 'a/~2'])('%s is no pointer, so it is taken literally', (claim) =>
    expect(claimPath(claim)).toEqual([claim]),
  );

  test('every place in every claim has a pointer that finds it', () => {
    const escaped = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1');
    const places = (value: unknown, pointer: string): [string, unknown][] => [
      ...(pointer === '' ? [] : [[pointer, value] as [string, unknown]]),
      ...(typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => places(inner, `${pointer}/${escaped(key)}`))
        : []),
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (claims) => {
        for (const [pointer, value] of places(claims, ''))
          expect(claimAt(claims, claimPath(pointer)!)).toBe(value);
      }),
    );
  });
});

describe('incomplete claims', () => {
  test.each([
    ['{}', []],
    ['{"groups": ["a"]}', []],
    ['{"hasgroups": true}', ['groups']],
    ['{"hasgroups": "true"}', ['groups']],
    ['{"hasgroups": true, "groups": ["a"]}', ['groups']],
    ['{"hasgroups": false}', []],
    [
      '{"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}}',
      ['groups'],
    ],
    ['{"_claim_names": {"roles": "src1", "groups": "src1"}}', ['roles', 'groups']],
    ['{"_claim_names": {"__proto__": "src1"}}', ['__proto__']],
    ['{"_claim_names": {"groups": null}}', ['groups']],
    ['{"_claim_names": {}}', []],
    ['{"_claim_names": null}', []],
  ])('%s lacks %j', (json, names) => expect([...incompleteClaims(parse(json))]).toEqual(names));
});

describe('a verified e-mail', () => {
  test.each([
    ['{"email_verified": true}', 'email_verified', true],
    ['{"email_verified": "true"}', 'email_verified', true],
    ['{"email_verified": "True"}', 'email_verified', false],
    ['{"email_verified": 1}', 'email_verified', false],
    ['{"email_verified": "1"}', 'email_verified', false],
    ['{"email_verified": [true]}', 'email_verified', false],
    ['{"email_verified": {"true": true}}', 'email_verified', false],
    ['{"email_verified": false}', 'email_verified', false],
    ['{}', 'email_verified', false],
    ['{"email_verified": true}', 'domain_owner_verified', false],
    ['{"domain_owner_verified": true}', 'domain_owner_verified', true],
    ['{"xms_edov": 1}', 'xms_edov', true],
    ['{"xms_edov": "1"}', 'xms_edov', true],
    ['{"xms_edov": "0"}', 'xms_edov', false],
    ['{"xms_edov": [1]}', 'xms_edov', false],
    ['{}', 'constructor', false],
    ['{}', '*', true],
    ['{"email_verified": false}', '*', true],
  ])('%s with %s: %s', (json, claim, verified) => expect(isEmailVerified(parse(json), claim)).toBe(verified));
});

describe('what is kept of a person', () => {
  const profile = (json: string, verifiedClaim = 'email_verified') =>
    profileOf(parse(json), 'subject-1', verifiedClaim);

  test('the claims that change at each sign-in are left out, all others stay', () => {
    const { claims } = profile(`{
      "iss": "i", "aud": "a", "exp": 1, "iat": 1, "nbf": 1, "jti": "j", "nonce": "n", "azp": "a", "sid": "s", "auth_time": 1,
      "at_hash": "h", "c_hash": "h", "s_hash": "h",
      "sub": "subject-1", "id": 12345678901234567890, "groups": ["a"], "amr": ["pwd"], "__proto__": {"x": 1}
    }`);
    expect(JSON.stringify(claims)).toBe(
      '{"sub":"subject-1","id":12345678901234567890,"groups":["a"],"amr":["pwd"],"__proto__":{"x":1}}',
    );
  });

  test('the access tokens of distributed claims are not kept', () => {
    const { claims } = profile(`{"_claim_names": {"groups": "s"},
      "_claim_sources": {"s": {"endpoint": "https://x", "access_token": "secret"}, "t": "odd"}}`);
    expect(claims).toEqual({
      _claim_names: { groups: 's' },
      _claim_sources: { s: { endpoint: 'https://x' }, t: 'odd' },
    });
  });

  test.each([
    ['{"name": "Ada King", "preferred_username": "ada", "email": "a@example.com"}', 'Ada King'],
    ['{"name": "", "preferred_username": "ada", "email": "a@example.com"}', 'ada'],
    ['{"name": 7, "preferred_username": null, "email": "A@example.com"}', 'a@example.com'],
    ['{"name": "\\u0007\\n ", "email": "no address"}', 'subject-1'],
    ['{"name": "Ada\\u0000\\r\\nKing\\u2028\\u202e"}', 'AdaKing'],
    ['{"name": "👩\\u200d🚀 Ada"}', '👩\u200d🚀 Ada'],
  ])('the name of %s is %s', (json, name) => expect(profile(json).name).toBe(name));

  test('a name has at most 200 characters, and no half of one', () => {
    expect(cleanName('🌙'.repeat(201))).toBe('🌙'.repeat(200));
  });

  test('what is no address is no e-mail, and is not verified', () => {
    expect(profile('{"email": "a@b@example.com", "email_verified": true}')).toMatchObject({
      email: null,
      email_verified: false,
    });
    expect(profile('{"email": "Ada@Example.com"}', '*')).toMatchObject({
      email: 'ada@example.com',
      email_verified: true,
    });
  });
});
