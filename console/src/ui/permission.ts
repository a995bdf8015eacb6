import type { Permission } from '../api/me.ts';
import { states } from '../text/en/states.ts';

/** Reason why an action is off, for `disabledReason`; null if it is not. */
export const permissionReason = ({ allowed, requiredRole, role }: Permission): string | null => {
  if (allowed) return null;
  return requiredRole ? states.actionNeedsRole(requiredRole, role) : states.actionNotAllowed;
};
