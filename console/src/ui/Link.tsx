import { Link as RouterLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import { parseSearch } from '../routing/search.ts';

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** A path of the application (`addresses.ts` makes them), or an address outside, which opens in a new tab. */
  href: string;
  replace?: boolean;
  keepScroll?: boolean;
  children?: ReactNode;
  ref?: Ref<HTMLAnchorElement>;
}

/** Splits an address of the application into what the router wants. */
export const splitAddress = (href: string) => {
  const { pathname, search, hash } = new URL(href, 'http://app');
  return { to: pathname, search: parseSearch(search), hash: hash.slice(1) };
};

const isOutside = (href: string): boolean => !href.startsWith('/') || href.startsWith('//');

/** Accepts http and https only: someone else may have written the address. */
export const isWebAddress = (href: string): boolean => /^https?:\/\//i.test(href);

/** A link. It is a real `<a href>`: it can be opened in a new tab, copied and dragged. */
export const Link = ({ href, replace, keepScroll, children, ref, ...rest }: LinkProps) => {
  if (isOutside(href)) {
    return (
      <a {...rest} ref={ref} href={isWebAddress(href) ? href : undefined} target="_blank" rel="noreferrer">
        {children}
      </a>
    );
  }
  // The server, and not the router, sends these: the API's document, metrics.
  if (/^\/(app\/api|api|metrics|healthz|readyz)\b/.test(href)) {
    return (
      <a {...rest} ref={ref} href={href}>
        {children}
      </a>
    );
  }
  return (
    <RouterLink
      {...(rest as object)}
      ref={ref}
      {...splitAddress(href)}
      activeProps={{}}
      // The router marks a link to the page itself as current; the navigation marks the place of the page.
      activeOptions={{ exact: true }}
      preload="intent"
      replace={replace ?? false}
      resetScroll={!keepScroll}
    >
      {children}
    </RouterLink>
  );
};
