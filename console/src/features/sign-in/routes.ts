import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../routing/page.ts';
import { searchSchema, text } from '../../routing/search.ts';

export const signInPage = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchSchema({ return_to: text }),
  component: lazyRouteComponent(
    (): Promise<Record<string, () => null>> => import('./SignInPage.tsx') as never,
    'SignInPage',
  ),
});
