import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { id, jsonObject, jsonRoute, optional, type Route } from '../../http/index.ts';
import { badRequest } from '../../lib/errors.ts';
import { roles } from '../../lib/principal.ts';
import { previewRoleMappings } from './preview.ts';
import { proposedMapping } from './role-mapping-routes.ts';
import { maxRoleMappings } from './role-mappings.ts';
import type { PeopleParts } from './roles.ts';
import { countUsers } from './store.ts';

const given = ['claims', 'user_id', 'mappings'] as const;

/** Adds a fault for each mapping whose claim and value one before it has. */
const checkPairs = (
  mappings: readonly { claim: string; value: string }[],
  context: z.RefinementCtx,
): void => {
  const seen = new Set<string>();
  for (const [i, { claim, value }] of mappings.entries()) {
    const pair = JSON.stringify([claim, value]);
    if (seen.has(pair)) {
      context.addIssue({ code: 'custom', path: [i, 'value'], message: 'is there twice for this claim' });
    }
    seen.add(pair);
  }
};

const proposedMappings = z
  .custom<unknown[]>((value) => Array.isArray(value), 'expected an array')
  .refine((list) => list.length <= maxRoleMappings, `must have at most ${maxRoleMappings} items`)
  .pipe(z.array(proposedMapping).superRefine(checkPairs))
  .meta({
    openapi: {
      type: 'array',
      maxItems: maxRoleMappings,
      items: {
        type: 'object',
        required: ['claim', 'value', 'role'],
        properties: {
          id: { type: ['string', 'null'], format: 'uuid', description: 'As stored; left out for a new one.' },
          claim: { type: 'string', minLength: 1, maxLength: 200 },
          value: { type: 'string', minLength: 1, maxLength: 500 },
          role: { type: 'string', enum: roles },
          priority: { type: ['integer', 'null'], minimum: 0, maximum: 1_000, default: 0 },
        },
      },
    },
  });

const previewBody = z
  .object({
    claims: optional(jsonObject).describe('Claims as the identity provider would send them.'),
    user_id: optional(id).describe('A person, by the last claims. Not together with `claims`.'),
    mappings: optional(proposedMappings).describe('A whole set of mappings in place of the stored one.'),
  })
  .superRefine(({ claims, user_id }, context) => {
    if (claims === undefined || user_id === undefined) return;
    context.addIssue({ code: 'custom', path: ['user_id'], message: 'cannot be used together with claims' });
  })
  .meta({ id: 'PreviewRoleMappingsBody' });

const mapping = z.object({
  id: id.nullable(),
  claim: z.string(),
  value: z.string(),
  role: z.enum(roles),
  priority: z.int(),
});
const role = z.enum(roles).nullable();

const preview = z
  .object({
    role: role.describe('Null: a sign-in would be refused.'),
    role_source: z
      .enum(['mapping', 'manual', 'default'])
      .nullable()
      .describe('Null if neither claims nor a person is given.'),
    matched: z
      .array(mapping.extend({ decides: z.boolean() }))
      .describe('The mappings that match, by priority and role.'),
    ignored: z.array(
      mapping.extend({
        reason: z.enum(['claim_absent', 'value_differs', 'email_not_verified', 'claims_incomplete']),
        found: z.array(z.string()).describe('The values that the claim has: the first 20.'),
        hint: z.string().nullable().describe('What may be meant instead.'),
      }),
    ),
    incomplete: z
      .array(z.string())
      .describe('The claims that the identity provider did not send in full. They decide nothing.'),
    would_change_users: z
      .array(z.object({ id, name: z.string(), email: z.string().nullable(), from: role, to: role }))
      .describe('The people whose role would change: the first 100.'),
    would_change_count: z.int(),
    leaves_no_admin: z.boolean().describe('The change would be refused with 412.'),
  })
  .meta({ id: 'RoleMappingPreview' });

const previewAmong = preview
  .extend({ user_count: z.int().describe('How many people there are, whose roles could change.') })
  .meta({ id: 'RoleMappingPreviewAmongUsers' });

const common = {
  role: 'admin',
  scope: 'access:read',
  request: 'POST /role-mappings/preview',
  body: {
    schema: previewBody,
    precheck: (body: Record<string, unknown>) => {
      if (given.every((name) => body[name] === undefined || body[name] === null)) {
        throw badRequest(`One of ${given.join(', ')} is required.`);
      }
    },
  },
  otherStatuses: [404],
  cache: 'never',
} as const;

export const previewRoutes = (db: Database, parts: PeopleParts): Route[] => [
  jsonRoute({
    ...common,
    id: 'previewRoleMappings',
    summary: 'Preview role mappings',
    description:
      'Returns which role claims or a person would have and why, and which people a proposed set of mappings would change. Nothing is written.',
    response: preview,
    handler: ({ body }) => previewRoleMappings(db, parts, body),
  }),
  jsonRoute({
    ...common,
    id: 'previewRoleMappingsAmongUsers',
    base: 'app',
    summary: 'Preview role mappings, with the number of people',
    description: 'As the preview of the API, and how many people there are.',
    response: previewAmong,
    handler: async ({ body }) => ({
      ...(await previewRoleMappings(db, parts, body)),
      user_count: await db.run(countUsers),
    }),
  }),
];
