import { type Permission, type Role, usePermission } from '../api/me.ts';
import type { OperationId } from '../api/operations.ts';
import { states } from '../text/en/states.ts';

/** Reason why an action is off, for `disabledReason`; null if it is not. */
export const permissionReason = ({ allowed, requiredRole, role }: Permission): string | null => {
  if (allowed) return null;
  return requiredRole ? states.actionNeedsRole(requiredRole, role) : states.actionNotAllowed;
};

/** Returns the reason why this person may not call `operation`; null if they may. */
export const useDisabledReason = (operation: OperationId, atLeast?: Role): string | null =>
  permissionReason(usePermission(operation, atLeast));
