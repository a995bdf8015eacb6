import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from '../api/query.ts';
import { leadToSignInBy } from '../features/sign-in/session.ts';
import { Theme } from '../ui/Theme.tsx';
import { router } from './router.tsx';

leadToSignInBy(router.history);

export const App = ({ nonce }: { nonce: string }) => (
  <Theme nonce={nonce}>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </Theme>
);
