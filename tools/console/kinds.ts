import type { ApiDocument } from './api.ts';

type Json = Record<string, unknown>;

interface ObjectSchema {
  properties?: Record<string, Json>;
  required?: string[];
}

/** The bodies that are different for each kind, by what tells the kinds apart, and where in a body their fields are. */
const bodies = {
  llmConfigurations: { schema: 'CreateLlmConfigurationBody', by: 'kind' },
  integrations: { schema: 'ObservabilityProviderSettingsInput', by: 'provider' },
  dataConnections: { schema: 'CreateDataConnectionBody', by: 'engine', inside: 'configuration' },
  channels: { schema: 'CreateChannelBody', by: 'kind' },
  alertRules: { schema: 'CreateAlertRuleBody', by: 'kind', inside: 'params' },
  documentReaders: { schema: 'DocumentIntelligenceBody', by: 'provider', inside: 'settings' },
} as const;

/**
 * The table of kinds of the application: for each, the fields that its body must have, those that it may have, and the
 * defaults that are numbers. What tells the kinds apart is not among them.
 */
export const kindsTable = (document: ApiDocument): string => {
  const schemas = document.components.schemas as Record<string, Json>;
  const resolved = (schema: Json): Json => {
    // What may be null is the first of two.
    const { $ref } = (schema.anyOf as Json[] | undefined)?.[0] ?? schema;
    return typeof $ref === 'string' ? schemas[$ref.slice('#/components/schemas/'.length)]! : schema;
  };
  const shapeOf = (schema: Json): ObjectSchema => resolved(schema) as ObjectSchema;
  const tables = Object.entries(bodies).map(([name, { schema, by, ...more }]) => {
    const kinds = (schemas[schema]!.oneOf as Json[]).map((branch) => {
      const body = shapeOf(branch);
      const { properties = {}, required = [] } =
        'inside' in more ? shapeOf(body.properties![more.inside]!) : body;
      const fields = Object.keys(properties).filter((field) => field !== by);
      const numbers = fields.filter((field) => typeof properties[field]!.default === 'number');
      return [
        body.properties![by]!.const,
        {
          required: fields.filter((field) => required.includes(field)),
          optional: fields.filter((field) => !required.includes(field)),
          defaults: Object.fromEntries(numbers.map((field) => [field, properties[field]!.default])),
        },
      ];
    });
    return `export const ${name} = ${JSON.stringify(Object.fromEntries(kinds))} as const;`;
  });
  return `/** The fields of each kind, and their defaults, as the bodies that create them have them. */

${tables.join('\n')}
`;
};
