import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { stringifySearch } from './search.ts';

export interface UrlState<S> {
  search: S;
  /** Changes some parameters by a choice: Back undoes it. undefined and '' remove one. The list starts again. */
  set: (patch: Partial<S>) => void;
  /** As `set`, without an entry in the history: for typing and closing. */
  replace: (patch: Partial<S>) => void;
  /** The address of this page with some parameters changed: for tabs and links. */
  href: (patch: Partial<S>) => string;
  clear: (names: readonly (keyof S & string)[]) => void;
  /** The number of filters that are set by these parameters. `from` and `to` are the two ends of one. */
  count: (names: readonly (keyof S & string)[]) => number;
}

/**
 * Reads and changes the state of a page in its address. `S` is the return type of the page's search reader. The
 * parameter `next` is the cursor of a list, which no other filter keeps.
 */
export const useUrlState = <S extends object>(): UrlState<S> => {
  const raw: unknown = useSearch({ strict: false });
  const search = raw as S;
  const navigate = useNavigate();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const patched = (patch: Partial<S>): Record<string, unknown> => ({ ...search, next: undefined, ...patch });
  const go = (next: Record<string, unknown>, replace = false) =>
    void navigate({ href: `${pathname}${stringifySearch(next)}`, replace, resetScroll: false });
  return {
    search,
    set: (patch) => go(patched(patch)),
    replace: (patch) => go(patched(patch), true),
    href: (patch) => `${pathname}${stringifySearch(patched(patch))}`,
    clear: (names) => go(patched(Object.fromEntries(names.map((name) => [name, undefined])) as Partial<S>)),
    count: (names) =>
      new Set(
        names.filter((name) => search[name] !== undefined).map((name) => name.replace(/(from|to)$/, 'range')),
      ).size,
  };
};

/** The addresses of the pages of a list, for `Pager`. `next` is the cursor that the API returned. */
export const useCursor = (next: string | null | undefined): { first: string | null; next: string | null } => {
  const { search, href } = useUrlState<{ next?: string }>();
  return {
    first: search.next === undefined ? null : href({}),
    next: next ? href({ next }) : null,
  };
};
