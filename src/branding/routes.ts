import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database, Tx } from '../database/index.ts';
import { type Route, route, timestamp } from '../http/index.ts';
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

/** Changes the fields that `fields` has. `ifMatch` is called for the locked row. */
export const changeBranding = async (
  tx: Tx,
  actor: Actor,
  fields: Partial<BrandingFields>,
  ifMatch: (revision: number) => void = () => {},
): Promise<Branding> => {
  const before = await lockBranding(tx);
  ifMatch(before.revision);
  if (Object.keys(fields).length === 0) return before;
  const after = await branding.update(tx, null, fields);
  await audit(tx, actor, 'branding.update', null, forAudit(fields));
  return after;
};

export const brandingRoutes = (db: Database): Route[] => [
  route({
    id: 'getBranding',
    role: 'member',
    scope: 'settings:read',
    method: 'GET',
    path: '/branding',
    summary: 'Get the branding',
    response: shownBranding,
    etag: true,
    handler: async ({ etag }) => {
      const found = await db.run(findBranding);
      etag(found.revision);
      return found;
    },
  }),
  route({
    id: 'updateBranding',
    role: 'admin',
    scope: 'settings',
    method: 'PATCH',
    path: '/branding',
    summary: 'Update the branding',
    body: updateBody,
    response: shownBranding,
    etag: true,
    handler: ({ body, transaction, ifMatch, etag, actor }) =>
      transaction(async (tx) => {
        const after = await changeBranding(tx, actor, withoutUndefined(body), ifMatch);
        etag(after.revision);
        return after;
      }),
  }),
  route({
    id: 'getSignInBranding',
    role: 'anyone',
    scope: null,
    method: 'GET',
    base: 'app',
    path: '/branding',
    summary: 'Get the branding for the sign-in page',
    response: shownBranding,
    handler: () => db.run(findBranding),
  }),
];
