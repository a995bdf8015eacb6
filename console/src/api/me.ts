import { leastRoleOf, type OperationId } from './operations.ts';
import { getCached, setCached, useOperation } from './query.ts';
import type { Branding, Me } from './types.gen.ts';

export type { Branding, Me };
export type Role = Me['principal']['role'];

/** Takes from the page who is signed in: the server wrote it there, and the page does not ask for it. */
export const takeMeFromPage = (): void => {
  const text = document.querySelector<HTMLMetaElement>('meta[name="me"]')?.content ?? '';
  // The development server serves the page as it is.
  const body = text.startsWith('{') ? (JSON.parse(text) as Me) : null;
  if (body) setCached('getMe', {}, { body, etag: null });
};

export const getMe = (): Me | undefined => getCached('getMe', {})?.body;

/** Reads who is signed in. The shell shows a page only when this is there, so pages use `useMe`. */
export const useMeQuery = ({ every }: { every?: number | undefined } = {}) =>
  useOperation('getMe', {}, { staleTime: 60_000, every });

export const useMe = (): Me => {
  const { data } = useMeQuery();
  if (!data) throw new Error('useMe is for pages inside the shell.');
  return data;
};

/** The address of the API, for commands that people copy: `https://host/api/v2`. */
export const useBaseUrl = (): string => useMe().base_url ?? `${location.origin}/api/v2`;

/** The right to call an operation. */
export interface Permission {
  allowed: boolean;
  /** The lowest role that may; null if the API does not have the operation, or the key lacks a scope. */
  requiredRole: Role | null;
  role: Role;
}

const ranks: Record<Role, number> = { member: 0, builder: 1, admin: 2 };

/** The lowest role that may call `operation`, and is at least `atLeast`; null if `role` is high enough. */
export const lackedRole = (operation: OperationId, role: Role, atLeast: Role = 'member'): Role | null => {
  const least = leastRoleOf(operation);
  const needed = least !== null && least !== 'anyone' && ranks[least] > ranks[atLeast] ? least : atLeast;
  return ranks[needed] > ranks[role] ? needed : null;
};

/** Returns the right to call `operation`. `atLeast`: the thing itself may need a higher role. */
export const usePermission = (operation: OperationId, atLeast: Role = 'member'): Permission => {
  const { operations, principal } = useMe();
  const requiredRole = lackedRole(operation, principal.role, atLeast);
  return {
    allowed: operations.includes(operation) && requiredRole === null,
    requiredRole,
    role: principal.role,
  };
};

/** Returns a function for pages that know the number of Work Items that wait for a person: the navigation shows it. */
export const useReportReviewCount = () => {
  const { data, etag } = useMeQuery();
  return (count: number) => {
    if (data && data.review_count !== count)
      setCached('getMe', {}, { body: { ...data, review_count: count }, etag });
  };
};
