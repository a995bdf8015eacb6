import type { RegisteredRouter } from '@tanstack/react-router';
import type { PathParams } from './page.ts';
import { stringifySearch } from './search.ts';

type Routes = RegisteredRouter['routesByPath'];

/** The path of a page, as its route names it: `/agents/$agentId`. */
export type PagePath = keyof Routes & string;

/** The query of a page. One value of a list may stand alone. */
export type SearchOf<P extends PagePath> = {
  [K in keyof Routes[P]['types']['fullSearchSchema']]?:
    | Routes[P]['types']['fullSearchSchema'][K]
    | (NonNullable<Routes[P]['types']['fullSearchSchema'][K]> extends readonly (infer E)[]
        ? E | readonly E[]
        : never);
};

type Rest<P extends PagePath> = [search?: SearchOf<P>, hash?: string];

/** Returns the address of a page with its query and, after `#`, the place in it: `to('/agents/$agentId', { agentId })`. */
export const to = <P extends PagePath>(
  path: P,
  ...[params, search, hash]: Record<never, never> extends PathParams<P>
    ? [params?: Record<never, never>, ...Rest<P>]
    : [params: PathParams<P>, ...Rest<P>]
): string => {
  const pathname = path.replace(/\$(\w+)/g, (_all, name: string) =>
    encodeURIComponent((params as Record<string, string>)[name]!),
  );
  return `${pathname}${stringifySearch(search ?? {})}${hash ? `#${encodeURIComponent(hash)}` : ''}`;
};
