import { queryClient } from '../api/query.ts';
import { onFailure, request } from '../api/request.ts';
import { to } from './addresses.ts';
import { writePreference } from './preferences.ts';
import { router } from './router.tsx';

/** Whether `address` leads to a page of this application: `return_to` comes from an address that anyone can write. */
const isInside = (address: string): boolean => /^\/(?![/\\])/.test(address);

/** Where to go after sign-in. */
export const returnAddress = (asked: string | undefined): string =>
  asked !== undefined && isInside(asked) && !asked.startsWith('/sign-in') ? asked : to.overview();

/** Forgets what was read, and goes to sign-in, which returns to the present page. */
const toSignIn = (): void => {
  if (location.pathname === '/sign-in') return;
  const here = `${location.pathname}${location.search}${location.hash}`;
  queryClient.clear();
  router.history.replace(to.signIn(here === '/' ? {} : { return_to: here }));
};

onFailure((problem) => {
  if (problem.status === 401) toSignIn();
});

/** Ends the session, here and at the identity provider if it has one. */
export const signOut = async (): Promise<void> => {
  const { body } = await request<{ redirect_url: string | null }>('POST', '/app/api/sign-out');
  queryClient.clear();
  writePreference('recent', null);
  if (body.redirect_url === null) router.history.replace(to.signIn());
  else location.assign(body.redirect_url);
};
