import { asciiLower, emailDomain } from '../../lib/email.ts';
import { roles } from '../../lib/principal.ts';
import { claimAt, claimPath, incompleteClaims, isEmailVerified, valuesOf } from './claims.ts';
import type { MappingFields } from './role-mapping-store.ts';
import type { Claims } from './store.ts';

type IgnoredReason = 'claim_absent' | 'value_differs' | 'email_not_verified' | 'claims_incomplete';

interface Explanation<M> {
  matched: M[];
  ignored: { mapping: M; reason: IgnoredReason; found: string[] }[];
}

/** A set of mappings, ready to be applied to many people. */
export interface RoleRules<M extends MappingFields> {
  /** Returns the mapping that decides: the highest priority, then the highest role; null if none matches. */
  decide(claims: Claims): M | null;
  /** Returns the top-level claims of mappings that the provider did not send in full. */
  incomplete(claims: Claims): string[];
  /** Returns which mappings match, the one that decides first, and why each other one does not. */
  explain(claims: Claims): Explanation<M>;
}

/**
 * Compares two mappings that match: the one that decides comes first. The sort is stable: of equals, the first given.
 */
const byRank = (a: MappingFields, b: MappingFields): number =>
  b.priority - a.priority || roles.indexOf(b.role) - roles.indexOf(a.role);

/** The mappings of one claim. */
interface ClaimRules {
  path: readonly [string, ...string[]];
  /** True for the e-mail, whose values are compared as addresses and only while it is verified. */
  isEmail: boolean;
  /** The rank of the first mapping for each key: lower ranks decide. */
  ranks: Map<string, number>;
}

/** Returns the keys that values of the claim are equal to: an e-mail also to its domain. */
const keysOf = ({ isEmail }: ClaimRules, values: string[]): string[] =>
  isEmail
    ? values.flatMap((email) => {
        const domain = emailDomain(email);
        // A mapping's value `@example.com` stands for a domain, so an e-mail that begins with `@` is equal to none.
        const whole = email.startsWith('@') ? [] : [asciiLower(email)];
        return domain === null ? whole : [...whole, domain];
      })
    : values;

const keyOf = ({ isEmail }: ClaimRules, value: string): string => (isEmail ? asciiLower(value) : value);

/**
 * Returns the rules of `mappings`, whose pointers are well-formed. Values are looked up, so the cost for a person grows
 * with the values that the person has and not with the number of mappings.
 */
export const roleRules = <M extends MappingFields>(
  mappings: readonly M[],
  verifiedClaim: string,
): RoleRules<M> => {
  const ranked = [...mappings].sort(byRank);
  const rulesOf = new Map<string, ClaimRules>();
  for (const [rank, { claim, value }] of ranked.entries()) {
    let rules = rulesOf.get(claim);
    if (!rules) {
      const path = claimPath(claim)!;
      // Also as `/email`: a pointer must not bypass the check that the address is verified.
      rules = { path, isEmail: path.length === 1 && path[0] === 'email', ranks: new Map() };
      rulesOf.set(claim, rules);
    }
    const key = keyOf(rules, value);
    if (!rules.ranks.has(key)) rules.ranks.set(key, rank);
  }
  const topLevel = new Set([...rulesOf.values()].map(({ path }) => path[0]));

  const counts = ({ isEmail }: ClaimRules, claims: Claims): boolean =>
    !isEmail || isEmailVerified(claims, verifiedClaim);

  const incomplete = (claims: Claims): string[] =>
    [...incompleteClaims(claims)].filter((name) => topLevel.has(name));

  /** Returns why the mapping does not apply, and the values that its claim has; null if it matches. */
  const ignored = (mapping: M, claims: Claims, unsent: string[]) => {
    const rules = rulesOf.get(mapping.claim)!;
    const claim = claimAt(claims, rules.path);
    const found = valuesOf(claim);
    const because = (reason: IgnoredReason) => ({ mapping, reason, found: [...new Set(found)] });
    if (unsent.includes(rules.path[0])) return because('claims_incomplete');
    if (claim === undefined || claim === null) return because('claim_absent');
    if (!keysOf(rules, found).includes(keyOf(rules, mapping.value))) return because('value_differs');
    return counts(rules, claims) ? null : because('email_not_verified');
  };

  return {
    decide: (claims) => {
      let best = Number.POSITIVE_INFINITY;
      for (const rules of rulesOf.values()) {
        if (!counts(rules, claims)) continue;
        for (const key of keysOf(rules, valuesOf(claimAt(claims, rules.path)))) {
          best = Math.min(best, rules.ranks.get(key) ?? best);
        }
      }
      return ranked[best] ?? null;
    },
    incomplete,
    explain: (claims) => {
      const unsent = incomplete(claims);
      const explained = ranked.map((mapping) => ({ mapping, why: ignored(mapping, claims, unsent) }));
      return {
        matched: explained.filter(({ why }) => why === null).map(({ mapping }) => mapping),
        ignored: explained.flatMap(({ why }) => why ?? []),
      };
    },
  };
};
