import { z } from 'zod';
import { id, jsonObject, optional, pageQuery, text, timestamp } from '../../http/index.ts';
import { asciiLower, emailAddress } from '../../lib/email.ts';
import { roles } from '../../lib/principal.ts';
import { endedKeys } from './ended-keys.ts';
import type { ShownUser, UserRow } from './store.ts';

const roleSource = z.enum(['mapping', 'manual', 'default']);
const status = z.enum(['invited', 'active', 'suspended']);

export const publicUser = z
  .object({
    id,
    email: z.string().nullable().describe('In ASCII lower case.'),
    email_verified: z.boolean().describe('Whether the identity provider vouches for the e-mail.'),
    name: z.string(),
    role: z.enum(roles).nullable().describe('Null: no access at present.'),
    role_source: roleSource.describe(
      '`manual`: an administrator set the role, and it stays. `mapping`: a role mapping gives it. `default`: no mapping matches.',
    ),
    status,
    identity: z
      .object({ issuer: z.string(), subject: z.string() })
      .nullable()
      .describe('Who the person is at the identity provider; null until the first sign-in.'),
    last_sign_in_at: timestamp.nullable(),
    last_confirmed_at: timestamp
      .nullable()
      .describe(
        'When the identity provider last confirmed the person: at a sign-in, or while a session lasts.',
      ),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'User' });

export const userWithClaims = publicUser
  .extend({
    claims: jsonObject
      .nullable()
      .describe('The claims that the identity provider last sent of the person; null before the first.'),
  })
  .meta({ id: 'UserWithClaims' });

export const updatedUser = publicUser
  .extend({
    ended_keys: endedKeys.describe('The keys of the workspace that ended, because the person made them.'),
  })
  .meta({ id: 'UpdatedUser' });

/** The person as clients see it, without the claims. */
export const toUserResponse = ({
  issuer,
  subject,
  ...user
}: ShownUser | UserRow): z.input<typeof publicUser> => {
  const identity = issuer === null ? null : { issuer, subject: subject! };
  return { ...user, identity };
};

export const userQuery = pageQuery.extend({
  status: status.optional(),
  role: z
    .enum(['none', ...roles])
    .optional()
    .describe('`none`: people without access.'),
  role_source: roleSource.optional(),
  email: z.string().transform(asciiLower).optional().describe('The whole address, in any case.'),
  subject: z.string().optional().describe('The subject at the identity provider.'),
});

export const inviteBody = z
  .object({
    email: z
      .string()
      .transform((value, context) => {
        const email = emailAddress(value);
        if (email === null) context.addIssue({ code: 'custom', message: 'must be an e-mail address' });
        return email ?? '';
      })
      .meta({ openapi: { type: 'string', maxLength: 254, examples: ['ada@example.com'] } })
      .describe(
        'A person who signs in with this address, verified by the identity provider, accepts the invitation.',
      ),
    role: z.enum(roles),
    name: optional(text(200)).describe('Default: the e-mail. The first sign-in replaces it.'),
  })
  .meta({ id: 'InviteUserBody' });

export const updateUserBody = z
  .object({
    role: z.enum(roles).optional().describe('Sets the role by hand: mappings do not change it any more.'),
    role_source: z
      .literal('mapping')
      .optional()
      .describe('Gives the role back to the role mappings. Not together with `role`.'),
    status: z
      .enum(['active', 'suspended'])
      .optional()
      .describe(
        'A suspended person loses the sessions at once, and cannot sign in. The person’s keys pause.',
      ),
    identity: z
      .null()
      .optional()
      .describe(
        'Null makes the person an invitation again, which the next sign-in with the verified e-mail accepts.',
      ),
    end_made_keys: z
      .boolean()
      .optional()
      .describe(
        'When the person is suspended or gets a lower role: whether the keys of the workspace that the person made, and that those made, end. Default: true. `GET /api-keys?made_by=` lists them.',
      ),
  })
  .superRefine(({ role, role_source }, context) => {
    if (role === undefined || role_source === undefined) return;
    context.addIssue({ code: 'custom', path: ['role_source'], message: 'cannot be used together with role' });
  })
  .meta({ id: 'UpdateUserBody' });
