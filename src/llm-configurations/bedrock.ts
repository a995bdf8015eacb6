import { text } from '../http/index.ts';
import { Secret } from '../lib/crypto.ts';
import { apiKey } from './fields.ts';
import type { KindFault } from './kind.ts';

/** The addresses and the credentials of Bedrock. */

/** AWS regions whose addresses do not end in `amazonaws.com`, by the beginning of their names. */
const awsSuffixes: readonly (readonly [region: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eusc-', 'amazonaws.eu'],
];

export const bedrockUrl = (region: string): string => {
  const suffix = awsSuffixes.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  return `https://bedrock-runtime.${region}.${suffix}`;
};

export const bedrockFields = {
  api_key: apiKey.describe('A Bedrock API key, instead of an access key. Never returned.'),
  access_key_id: text(128, 1).regex(/^\w+$/, 'must consist of letters, digits and underscores'),
  secret_access_key: apiKey,
  session_token: apiKey.describe('For temporary access keys. Never returned.'),
};

/** A Bedrock API key, or the keys that sign a request (AWS Signature Version 4). */
type BedrockCredentials =
  | { apiKey: Secret }
  | { accessKeyId: string; secretAccessKey: Secret; sessionToken: Secret | null };

export const bedrockCredentials = (settings: {
  api_key?: string;
  access_key_id?: string;
  secret_access_key?: string;
  session_token?: string;
}): BedrockCredentials => {
  if (settings.api_key !== undefined) return { apiKey: new Secret(settings.api_key) };
  return {
    accessKeyId: settings.access_key_id!,
    secretAccessKey: new Secret(settings.secret_access_key!),
    sessionToken: settings.session_token === undefined ? null : new Secret(settings.session_token),
  };
};

/**
 * Returns what is wrong with Bedrock credentials, or null: they are an API key, or an access key with its secret. The
 * path of the fault is a field that is present, unless all are missing.
 */
export const bedrockFault = (given: object): KindFault | null => {
  const fields = given as Record<string, unknown>;
  const has = (field: string) => fields[field] !== undefined && fields[field] !== null;
  const message = 'use either api_key, or access_key_id with secret_access_key';
  if (has('api_key')) {
    const other = ['access_key_id', 'secret_access_key', 'session_token'].find(has);
    return other === undefined ? null : { path: other, message: `${message}, not both` };
  }
  if (has('access_key_id') && has('secret_access_key')) return null;
  const half = ['access_key_id', 'secret_access_key', 'session_token'].find(has);
  const missing = 'is required, or access_key_id with secret_access_key';
  return { path: half ?? 'api_key', message, missing };
};
