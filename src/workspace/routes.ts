import { z } from 'zod';
import { jsonRoute, jsonValue, optional, type Route, text, webRoute } from '../http/index.ts';
import { isObject } from '../lib/objects.ts';
import { scopes } from '../lib/principal.ts';
import { toYaml } from '../lib/yaml.ts';
import { kindNames } from './kind.ts';
import type { WorkspaceRules } from './workspace.ts';

const document = jsonValue.describe(
  'The document: an object, or text of YAML 1.2 or JSON; at most 5 MB, without aliases.',
);
const prune = optional(z.boolean(), false).describe(
  'Whether things are deleted that the document does not name, within the kinds that it names.',
);
const secrets = optional(
  z
    .custom<Record<string, string>>(isObject, 'must be an object of names and values')
    .superRefine((given, context) => {
      for (const [name, value] of Object.entries(given)) {
        if (typeof value !== 'string') {
          context.addIssue({ code: 'custom', path: [name], message: 'expected a string' });
        }
      }
    })
    .meta({ openapi: { type: 'object', additionalProperties: { type: 'string' } } }),
  {} as Record<string, string>,
).describe('Values for the references of the document. They are never shown.');

const planBody = z.object({ document, prune, secrets }).meta({ id: 'PlanWorkspaceBody' });
const applyBody = z
  .object({
    document,
    prune,
    secrets,
    fingerprint: optional(text(200)).describe('That of the plan: another one is refused with 412.'),
  })
  .meta({ id: 'ApplyWorkspaceBody' });

const change = z
  .object({
    action: z.enum(['create', 'update', 'delete', 'unchanged']),
    kind: z.enum(kindNames),
    name: z.string().describe('Of a schedule: `AGENT/KEY`.'),
    fields: z
      .array(
        z.object({ path: z.string(), from: jsonValue, to: jsonValue }).meta({ id: 'WorkspaceFieldChange' }),
      )
      .describe('The fields that differ, or that a new thing has. Values of secrets are not shown.'),
  })
  .meta({ id: 'WorkspaceChange' });

const plan = z
  .object({
    fingerprint: z
      .string()
      .describe('Identifies what would be done. Send it with the document to apply just that.'),
    changes: z.array(change),
    secrets_needed: z.array(z.string()).describe('The secrets of new things, whose values must be sent.'),
    missing_scopes: z
      .array(
        z
          .object({ kind: z.enum(kindNames), scope: z.enum(scopes).nullable() })
          .meta({ id: 'WorkspaceMissingScope' }),
      )
      .describe(
        'What your API key lacks to apply this, by kind. A null: only a key without scopes gives roles to people.',
      ),
  })
  .meta({ id: 'WorkspacePlan' });

const applied = z.object({ changes: z.array(change) }).meta({ id: 'AppliedWorkspace' });

const documentSchema = {
  type: 'object',
  required: ['version'],
  properties: { version: { const: 1 } },
  additionalProperties: true,
};

/** The workspace as a document, for the application and the command. */
export const workspaceRoutes = (rules: WorkspaceRules): Route[] => [
  webRoute({
    id: 'exportWorkspace',
    role: 'admin',
    scope: 'workspace:read',
    base: 'app',
    request: 'GET /workspace',
    summary: 'Export the workspace',
    description:
      'Returns what the workspace holds, by names and without secrets. Applied to the same workspace it changes nothing. Returns 422 if two things have one name.',
    query: z.object({ format: z.enum(['yaml', 'json']).default('yaml') }),
    document: {
      responses: {
        200: {
          description: 'The document.',
          content: {
            'application/yaml': { schema: { type: 'string' } },
            'application/json': { schema: documentSchema },
          },
        },
      },
    },
    handler: async ({ query: { format } }) => {
      const exported = await rules.export();
      const [body, type] =
        format === 'json'
          ? [`${JSON.stringify(exported, null, 2)}\n`, 'application/json']
          : [toYaml(exported), 'application/yaml'];
      return new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } });
    },
  }),
  jsonRoute({
    id: 'planWorkspace',
    role: 'admin',
    // It tries secrets, and it shows what is there.
    scope: 'workspace',
    base: 'app',
    request: 'POST /workspace/plan',
    summary: 'Plan a change of the workspace',
    description:
      'Compares a document with the workspace and returns what applying it would do. Nothing is written. Every fault of the document is a 422 with `details`. `missing_scopes` says what a key with scopes may not apply.',
    body: planBody,
    response: plan,
    handler: ({ actor, body }) => rules.plan(actor, body),
  }),
  jsonRoute({
    id: 'applyWorkspace',
    role: 'admin',
    scope: 'workspace',
    base: 'app',
    request: 'POST /workspace/apply',
    summary: 'Apply a document to the workspace',
    description:
      'Makes all changes in one transaction, after new data connections were tried. With the fingerprint of a plan, returns 412 with the new plan if it is another one by now. A key with scopes needs, besides `workspace`, the scope of each kind that the document changes: otherwise it is a 403 with `missing_scopes`.',
    body: applyBody,
    response: applied,
    otherStatuses: [412],
    idempotent: true,
    handler: (context) => rules.apply(context, context.body),
  }),
];
