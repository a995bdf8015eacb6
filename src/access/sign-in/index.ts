import type { Feature, Services } from '../../feature.ts';
import type { Cookies } from '../cookies.ts';
import type { Identities } from '../people/identity.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { OidcClient } from './client.ts';
import { Discovery } from './discovery.ts';
import { ProviderKeys } from './keys.ts';
import { BackChannelLogout } from './logout.ts';
import { signInRoutes } from './routes.ts';
import { SignIn } from './sign-in.ts';
import { deleteUsedOnce } from './store.ts';

/** The configured identity provider: what sessions ask of it, and the parts that sign-in shares with that. */
export interface ConfiguredProvider {
  client: OidcClient;
  discovery: Discovery;
  keys: ProviderKeys;
}

/** Returns the identity provider that the environment names; null if it names none. */
export const createProvider = ({ config, egress, log, clock }: Services): ConfiguredProvider | null => {
  const { oidc, publicUrl } = config;
  if (oidc === null || publicUrl === null) return null;
  const discovery = new Discovery(oidc, egress, log);
  const keys = new ProviderKeys(discovery, egress);
  return { client: new OidcClient({ oidc, publicUrl, discovery, keys, egress, clock }), discovery, keys };
};

export interface SignInNeeds {
  provider: ConfiguredProvider | null;
  cookies: Cookies;
  identities: Identities;
  sessions: Sessions;
}

/** Sign-in with an identity provider (docs/sign-in.md). */
export const createSignIn = (services: Services, { provider, ...needs }: SignInNeeds): Feature => {
  const { oidc, publicUrl } = services.config;
  const feature: Feature = {
    tag: { name: 'Sign-in', description: 'Sign-in of people with an identity provider.' },
    retention: [(tx, _settings, limit) => deleteUsedOnce(tx, limit)],
  };
  if (!provider || !oidc || !publicUrl) return { ...feature, routes: signInRoutes(null, publicUrl) };
  const { client, discovery, keys } = provider;
  const signIn = new SignIn({ ...services, ...needs, oidc, publicUrl, client });
  const logout = new BackChannelLogout({ ...services, ...needs, oidc, discovery, keys });
  const ready = () => discovery.metadata !== null;
  return {
    ...feature,
    routes: signInRoutes({ oidc, ready, signIn, logout }, publicUrl),
    loops: [
      {
        role: 'api',
        start: () => discovery.loop.start(),
        stop: () => discovery.loop.stop(),
        pass: () => discovery.loop.pass(),
      },
    ],
    metrics: [signIn.outcomes],
  };
};
