import { z } from 'zod';
import { type Context, type Route, route } from '../../http/index.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OidcConfig } from './discovery.ts';
import type { BackChannelLogout } from './logout.ts';
import { failurePage } from './page.ts';
import type { Redirect, SignIn } from './sign-in.ts';

/** A parameter that a browser brings: whatever is not one text counts as absent. */
const brought = (description: string) =>
  z
    .unknown()
    .transform((value) => (typeof value === 'string' ? value : undefined))
    .meta({ openapi: { type: 'string' } })
    .describe(description)
    .optional();

const startQuery = z.object({
  return_to: brought(
    'The path, with query, to which the browser returns: `/agents?x=1`. At most 2,000 characters; anything else counts as `/`.',
  ),
});

const callbackQuery = z.object({
  code: brought('The authorization code.'),
  state: brought('The `state` of the authorization request.'),
  iss: brought('The issuer (RFC 9207).'),
  error: brought('Why the provider refused.'),
});

const options = z
  .object({
    oidc: z
      .object({
        name: z.string().describe('`OIDC_NAME`, for the button.'),
        ready: z.boolean().describe('Whether the provider could be reached since the start.'),
      })
      .nullable()
      .describe('null: no identity provider is configured.'),
    api_key: z.boolean().describe('Whether an API key can sign in: always.'),
  })
  .meta({ id: 'SignInOptions' });

const logoutBody = z
  .object({ logout_token: z.string().describe('A signed JWT.') })
  .meta({ id: 'BackChannelLogoutBody' });

export interface SignInRouteParts {
  oidc: OidcConfig;
  ready: () => boolean;
  signIn: SignIn;
  logout: BackChannelLogout;
}

/** The routes of sign-in. `parts` is null without a provider; then all but the options are 404. */
export const signInRoutes = (parts: SignInRouteParts | null, publicUrl: string | null): Route[] => {
  const base = { role: 'anyone', scope: null, base: 'app', noStore: true } as const;
  const retryPath = `${new URL(publicUrl ?? 'http://localhost').pathname.replace(/\/$/, '')}/app/api/sign-in`;
  const page = {
    failurePage: (failure: Parameters<typeof failurePage>[0]) => failurePage(failure, retryPath),
  };

  const configured = (): SignInRouteParts => {
    if (parts) return parts;
    throw new ApiError(
      'not_found',
      'Sign-in with an identity provider is not configured here (OIDC_ISSUER).',
    );
  };
  const redirect = ({ header }: Pick<Context, 'header'>, { location, cookies }: Redirect): void => {
    header('location', location);
    for (const cookie of cookies) header('set-cookie', cookie);
  };

  return [
    route({
      ...base,
      id: 'getSignInOptions',
      method: 'GET',
      path: '/sign-in/options',
      summary: 'Get the ways to sign in',
      response: options,
      handler: async () => ({
        oidc: parts && { name: parts.oidc.name, ready: parts.ready() },
        api_key: true,
      }),
    }),
    route({
      ...base,
      ...page,
      id: 'startSignIn',
      method: 'GET',
      path: '/sign-in',
      summary: 'Start a sign-in',
      description: 'Redirects a browser to the identity provider, and gives it a cookie for 10 minutes.',
      query: startQuery,
      anyQuery: true,
      status: 303,
      otherStatuses: [404],
      handler: async ({ query, headers, header }) =>
        redirect({ header }, await configured().signIn.start(query.return_to, headers.cookie)),
    }),
    route({
      ...base,
      ...page,
      id: 'finishSignIn',
      method: 'GET',
      path: '/sign-in/callback',
      summary: 'Finish a sign-in',
      description:
        'The provider sends the browser here. It is redirected to `return_to` with the cookie of a session; the session that it had ends. A failure is a page, or with `Accept: application/json` an error with `reason`.',
      query: callbackQuery,
      anyQuery: true,
      status: 303,
      otherStatuses: [400, 403, 404],
      handler: async ({ query, headers, header, actor }) => {
        const { signIn } = configured();
        const clear = signIn.cookieToClear(query, headers.cookie);
        if (clear !== null) header('set-cookie', clear);
        redirect({ header }, await signIn.finish(query, headers.cookie, actor));
      },
    }),
    route({
      ...base,
      id: 'backChannelLogout',
      method: 'POST',
      path: '/sign-in/back-channel-logout',
      summary: 'Log a person out by the identity provider',
      description:
        'OpenID Connect Back-Channel Logout 1.0: ends the sessions with the `sid` of the token, else those of its `sub`, that were made before it. API keys stay.',
      body: logoutBody,
      bodyType: 'form',
      largestBody: 64 * 1024,
      otherStatuses: [404],
      handler: async ({ body, actor }) => configured().logout.logOut(body.logout_token, actor),
    }),
  ];
};
