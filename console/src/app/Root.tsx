import { Outlet } from '@tanstack/react-router';
import { Notices } from '../ui/Notices.tsx';
import { useRouteLinks } from './route-links.ts';

/** What is around every page, also sign-in. */
export const Root = () => {
  useRouteLinks();
  return (
    <>
      <Outlet />
      <Notices />
    </>
  );
};
