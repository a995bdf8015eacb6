import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { signInHere, useSignInHere } from '../features/sign-in/session.ts';
import { Notices } from '../ui/Notices.tsx';
import { useKeptScroll } from './kept-scroll.ts';
import { SignInDialog } from './overlays.ts';
import { useRouteLinks } from './route-links.ts';

/** The parts around every page, also sign-in. */
export const Root = () => {
  useRouteLinks();
  useKeptScroll();
  const signsIn = useSignInHere();
  return (
    <>
      <Outlet />
      <Notices />
      <Suspense>{signsIn && <SignInDialog onClose={() => signInHere(false)} />}</Suspense>
    </>
  );
};
