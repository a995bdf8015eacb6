import { ApiError } from '../../lib/errors.ts';
import type { Principal } from '../../lib/principal.ts';

/**
 * Returns whether the principal may give roles to people. A key with scopes would otherwise make itself an
 * administrator.
 */
export const mayGiveRoles = ({ scopes }: Principal): boolean => scopes === null;

/** Throws 403 unless the principal may give roles to people. */
export const checkGivesRoles = (principal: Principal): void => {
  if (mayGiveRoles(principal)) return;
  throw new ApiError(
    'forbidden',
    'An API key with scopes gives no role to people. Use a key without scopes, or sign in.',
  );
};
