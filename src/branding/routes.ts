import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database, Tx } from '../database/index.ts';
import { jsonRoute, type Route, timestamp } from '../http/index.ts';
import { fingerprint } from '../lib/crypto.ts';
import { withoutUndefined } from '../lib/objects.ts';
import type { Actor } from '../lib/principal.ts';
import { type Branding, type BrandingFields, branding, findBranding, lockBranding } from './store.ts';

export const updateBody = z.object(branding.patch).meta({ id: 'UpdateBrandingBody' });

export const shownBranding = z
  .object({ ...branding.shown, updated_at: timestamp.nullable() })
  .meta({ id: 'Branding' });

/** The fields for the audit log. A logo is too long for it, so its fingerprint is logged. */
const forAudit = (fields: Partial<BrandingFields>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name.startsWith('logo') && value !== '' ? fingerprint(value) : value,
    ]),
  );

/** Changes the fields that `fields` has, at least one. */
export const changeBranding = async (
  tx: Tx,
  actor: Actor,
  fields: Partial<BrandingFields>,
): Promise<Branding> => {
  const after = await branding.update(tx, null, fields);
  await audit(tx, actor, 'branding.update', null, forAudit(fields));
  return after;
};

export const brandingRoutes = (db: Database): Route[] => [
  jsonRoute({
    id: 'getBranding',
    role: 'member',
    scope: 'settings:read',
    request: 'GET /branding',
    summary: 'Get the branding',
    response: shownBranding,
    cache: 'revision',
    handler: async ({ etag }) => {
      const found = await db.run(findBranding);
      etag(found.revision);
      return found;
    },
  }),
  jsonRoute({
    id: 'updateBranding',
    role: 'admin',
    scope: 'settings',
    request: 'PATCH /branding',
    summary: 'Update the branding',
    body: updateBody,
    response: shownBranding,
    cache: 'revision',
    lock: (tx) => lockBranding(tx),
    handler: ({ body, transaction, etag, actor }) =>
      transaction(async (tx, before) => {
        const fields = withoutUndefined(body);
        const after = Object.keys(fields).length === 0 ? before : await changeBranding(tx, actor, fields);
        etag(after.revision);
        return after;
      }),
  }),
  jsonRoute({
    id: 'getSignInBranding',
    role: 'anyone',
    scope: null,
    base: 'app',
    request: 'GET /branding',
    summary: 'Get the branding for the sign-in page',
    response: shownBranding,
    handler: () => db.run(findBranding),
  }),
];
