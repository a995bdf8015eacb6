import { z } from 'zod';
import { jsonRoute, type Route, type SignInContext, signInRoute } from '../../http/index.ts';
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
  const redirect = ({ header }: Pick<SignInContext, 'header'>, { location, cookies }: Redirect): void => {
    header('location', location);
    for (const cookie of cookies) header('set-cookie', cookie);
  };

  return [
    jsonRoute({
      id: 'getSignInOptions',
      role: 'anyone',
      scope: null,
      base: 'app',
      request: 'GET /sign-in/options',
      summary: 'Get the ways to sign in',
      cache: 'never',
      response: options,
      handler: async () => ({
        oidc: parts && { name: parts.oidc.name, ready: parts.ready() },
        api_key: true,
      }),
    }),
    signInRoute({
      ...page,
      id: 'startSignIn',
      request: 'GET /sign-in',
      summary: 'Start a sign-in',
      description: 'Redirects a browser to the identity provider, and gives it a cookie for 10 minutes.',
      query: startQuery,
      otherStatuses: [404],
      handler: async ({ query, headers, header }) =>
        redirect({ header }, await configured().signIn.start(query.return_to, headers.cookie)),
    }),
    signInRoute({
      ...page,
      id: 'finishSignIn',
      request: 'GET /sign-in/callback',
      summary: 'Finish a sign-in',
      description:
        'The provider sends the browser here. It is redirected to `return_to` with the cookie of a session; the session that it had ends. A failure is a page, or with `Accept: application/json` an error with `reason`.',
      query: callbackQuery,
      otherStatuses: [400, 403, 404],
      handler: async ({ query, headers, header, actor }) => {
        const { signIn } = configured();
        const clear = signIn.cookieToClear(query, headers.cookie);
        if (clear !== null) header('set-cookie', clear);
        redirect({ header }, await signIn.finish(query, headers.cookie, actor));
      },
    }),
    signInRoute({
      id: 'backChannelLogout',
      request: 'POST /sign-in/back-channel-logout',
      summary: 'Log a person out by the identity provider',
      description:
        'OpenID Connect Back-Channel Logout 1.0: ends the sessions with the `sid` of the token, else those of its `sub`, that were made before it. API keys stay.',
      body: { schema: logoutBody, largest: 64 * 1024, form: true },
      otherStatuses: [404],
      handler: async ({ body, actor }) => configured().logout.logOut(body.logout_token, actor),
    }),
  ];
};
