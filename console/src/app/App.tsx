import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect } from 'react';
import { queryClient } from '../api/query.ts';
import { leadToSignInBy } from '../features/sign-in/session.ts';
import { Theme } from '../ui/Theme.tsx';
import { router } from './router.tsx';

leadToSignInBy(router.history);

/** The router does not see an address that changes between its first load and its first render. */
const useFirstAddress = (): void =>
  useEffect(() => {
    if (router.state.location.href !== router.history.location.href) void router.load();
  }, []);

export const App = ({ nonce }: { nonce: string }) => {
  useFirstAddress();
  return (
    <Theme nonce={nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Theme>
  );
};
