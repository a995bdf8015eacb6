import type { RouterHistory } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { getMe } from '../../api/me.ts';
import { perform } from '../../api/mutation.ts';
import { queryClient, refresh } from '../../api/query.ts';
import { onFailure } from '../../api/request.ts';
import { hasUnsaved } from '../../api/unsaved.ts';
import { writePreference } from '../../base/preferences.ts';
import { to } from '../../routing/to.ts';
import { shell } from '../../text/en/shell.ts';
import { notify } from '../../ui/notices.ts';

/** Accepts only pages of this application: `return_to` comes from an address that anyone can write. */
const isInside = (address: string): boolean => /^\/(?![/\\])/.test(address);

export const returnAddress = (asked: string | undefined): string =>
  asked !== undefined && isInside(asked) && !asked.startsWith('/sign-in') ? asked : to('/');

let history: Pick<RouterHistory, 'replace'>;

/** The history of the router, in which a session that ends leads to sign-in. */
export const leadToSignInBy = (used: typeof history): void => {
  history = used;
};

/** Forgets what was read, and goes to sign-in, which returns to the present page. */
const toSignIn = (): void => {
  if (location.pathname === '/sign-in' || asksHere) return;
  const here = `${location.pathname}${location.search}${location.hash}`;
  // A person who was signed in learns why they are asked again.
  if (getMe()) notify(shell.sessionEnded);
  queryClient.clear();
  history.replace(to('/sign-in', {}, here === '/' ? {} : { return_to: here }));
};

let asksHere = false;
const listeners = new Set<() => void>();

export const signInHere = (shown: boolean): void => {
  asksHere = shown;
  for (const listener of listeners) listener();
};

/** Says that the session has ended while something on the page is not saved. */
export const useSignInHere = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asksHere,
  );

/** Shortest time between two questions for the role, after refusals. */
const roleEveryMs = 5_000;
let roleAskedAt = 0;

onFailure((problem) => {
  // A form that was being sent counts as changed again when its failure has reached it.
  if (problem.status === 401) setTimeout(() => (hasUnsaved() ? signInHere(true) : toSignIn()));
  // The role was lowered while the page was open: its buttons learn of it now, not within a minute.
  if (problem.status === 403 && Date.now() - roleAskedAt > roleEveryMs) {
    roleAskedAt = Date.now();
    void refresh('getMe');
  }
});

/** Ends the session, here and at the identity provider if it has one. */
export const signOut = async (): Promise<void> => {
  const { body } = await perform('signOut', {});
  queryClient.clear();
  writePreference('recent', null);
  if (body.redirect_url === null) history.replace(to('/sign-in'));
  else location.assign(body.redirect_url);
};
