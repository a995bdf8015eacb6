import type { Permission } from '../api/me.ts';
import { states } from '../text/en/states.ts';

/** Why an action can not be used, for `disabledReason`; null if it can. */
export const permissionReason = ({ allowed, requiredRole, role }: Permission): string | null => {
  if (allowed) return null;
  return requiredRole ? states.actionNeedsRole(requiredRole, role) : states.actionNotAllowed;
};
