import { createRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getMe } from '../api/me.ts';
import type { OperationId, Read } from '../api/operations.ts';
import { readEarly } from '../api/query.ts';

export type PathParams<P extends string> = P extends `${string}$${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? { [K in Name]: string } & PathParams<More>
    : { [K in Rest]: string }
  : Record<never, never>;

interface Page<P extends string, S extends object> {
  path: P;
  /** Reads the query of the address (`searchSchema`). */
  search: (raw: Record<string, unknown>) => S;
  /** The operation that the page depends on: who may not call it is told which role may. */
  operation: OperationId;
  /**
   * What the page reads first, in the words of the page: it is asked for while the code of the page is on its way. It
   * follows from the address alone.
   */
  first?: (address: { params: PathParams<P>; search: S }) => readonly Read[];
  /** The module of the component, and its name there. It is loaded when someone goes to it or points at a link to it. */
  component: readonly [load: () => Promise<object>, name: string];
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    operation?: OperationId;
    first?: (address: { params: object; search: object }) => readonly Read[];
  }
}

/** The root. `app/router.tsx` gives it and the frame their components. */
export const root = createRootRoute();
export const shell = createRoute({ getParentRoute: () => root, id: 'shell' });

/** Asks for the first data of a page. Only if the person may see it: a refusal would be in the audit log. */
const askFirst = (
  { operation, first }: { operation?: OperationId; first?: (address: never) => readonly Read[] },
  address: { params: object; search: object },
): void => {
  if (!operation || !getMe()?.operations.includes(operation)) return;
  for (const read of first?.(address as never) ?? []) readEarly(read);
};

/** A page inside the frame. Its folder exports it in `routes.ts`, and `app/router.tsx` lists the folders. */
export const page = <const P extends string, S extends object>({
  path,
  search,
  operation,
  first,
  component: [load, name],
}: Page<P, S>) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    validateSearch: search,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => null>>, name),
    staticData: { operation, first: first as never },
    loader: ({ params, location, preload }) => {
      // Pointing at a link asks for nothing.
      if (!preload)
        askFirst({ operation, first }, { params: params as object, search: search(location.search) });
    },
  });
