import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from './lib/crypto.ts';

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));

/** Returns whether credentials may travel there: https, or http that does not leave this machine. */
export const isSecure = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
};

/** Kept as it was given: the provider must call itself exactly so. */
const issuer = z
  .string()
  .max(500, 'must have at most 500 characters')
  .refine(isSecure, 'must be an https address; http only on loopback')
  .refine(
    (value) => !URL.canParse(value) || (!/[?#]/.test(value) && new URL(value).username === ''),
    'must have no query, fragment or user name',
  );

/** The parameters of the authorization request that the platform sets itself, or that would take their place. */
const ownParameters = [
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
];

const oidcParameters = z
  .string()
  .refine(
    (value) => /^\??[^\s?#&=]+=[^\s#&]*(&[^\s?#&=]+=[^\s#&]*)*$/.test(value),
    'must be a query string such as prompt=consent&access_type=offline',
  )
  .transform((value) => [...new URLSearchParams(value)])
  .superRefine((parameters, context) => {
    for (const name of new Set(parameters.map(([name]) => name))) {
      if (!ownParameters.includes(name)) continue;
      context.addIssue({
        code: 'custom',
        message: `must not contain ${name}, which the platform sets itself`,
      });
    }
  });

/** The variables of the identity provider (docs/sign-in.md). */
export const oidcEnvironment = {
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().max(500, 'must have at most 500 characters').optional(),
  OIDC_CLIENT_SECRET: z
    .string()
    .transform((value) => new Secret(value))
    .optional(),
  OIDC_SCOPES: z
    .string()
    .regex(
      /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/,
      'must be scopes with spaces between them',
    )
    .transform((value) => value.split(/ +/))
    .refine((scopes) => scopes.includes('openid'), 'must contain openid')
    .optional(),
  OIDC_PARAMETERS: oidcParameters.optional(),
  OIDC_EMAIL_VERIFIED_CLAIM: z
    .string()
    .max(200, 'must have at most 200 characters')
    .default('email_verified'),
  OIDC_NAME: z
    .string()
    .max(100, 'must have at most 100 characters')
    .regex(/^\P{Cc}*$/u, 'must be one line')
    .default('single sign-on'),
};

/** The identity provider with which people sign in (docs/sign-in.md). */
export interface OidcConfig {
  /** Exactly as the provider calls itself. */
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** Null: `openid profile email`, and `offline_access` if the provider lists it. */
  scopes: readonly string[] | null;
  /** More parameters of the authorization request. */
  parameters: readonly (readonly [name: string, value: string])[];
  /** The claim that says whether the e-mail is verified; `*`: the provider vouches for every address. */
  emailVerifiedClaim: string;
  /** Shown on the button. */
  name: string;
}

const oidcRequired = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;

/** The mistakes that the variables of the identity provider make together. */
export const oidcMistakes = (given: Record<string, string | undefined>): string[] => {
  const set = oidcRequired.filter((name) => given[name]);
  if (set.length === 0) return [];
  const mistakes = oidcRequired
    .filter((name) => !given[name])
    .map((name) => `${name}: is required with ${set[0]}; set all of ${oidcRequired.join(', ')}, or none`);
  const { PUBLIC_URL: publicUrl } = given;
  if (!publicUrl) {
    mistakes.push(`PUBLIC_URL: is required with ${set[0]}, because the provider sends people back to it`);
  } else if (URL.canParse(publicUrl) && /^https?:/i.test(publicUrl) && !isSecure(publicUrl)) {
    mistakes.push(`PUBLIC_URL: must be an https address with ${set[0]}; http only on loopback`);
  }
  return mistakes;
};

/** Returns the identity provider of a parsed environment; null if none is configured. */
export const readOidc = (e: z.output<z.ZodObject<typeof oidcEnvironment>>): OidcConfig | null =>
  e.OIDC_ISSUER && e.OIDC_CLIENT_ID && e.OIDC_CLIENT_SECRET
    ? {
        issuer: e.OIDC_ISSUER,
        clientId: e.OIDC_CLIENT_ID,
        clientSecret: e.OIDC_CLIENT_SECRET,
        scopes: e.OIDC_SCOPES ?? null,
        parameters: e.OIDC_PARAMETERS ?? [],
        emailVerifiedClaim: e.OIDC_EMAIL_VERIFIED_CLAIM,
        name: e.OIDC_NAME,
      }
    : null;
