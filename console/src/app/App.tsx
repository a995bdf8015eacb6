import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from '../api/query.ts';
import { Theme } from '../ui/Theme.tsx';
import { router } from './router.tsx';
import './session.ts';

/** The application. */
export const App = ({ nonce }: { nonce: string }) => (
  <Theme nonce={nonce}>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </Theme>
);
