import type { ResolvedLlm } from '../../../llm-configurations/index.ts';
import { modernSchema, type Schema } from './modern.ts';
import { withoutLostNames, withoutLostReferences, withoutReferences } from './references.ts';
import { plainObject } from './top.ts';

/** The kinds whose endpoints judge the schemas of tools. */
export type EndpointKind = Exclude<ResolvedLlm['kind'], 'mock'>;

/** Refusals of the endpoints of a kind, besides those that any endpoint may make. */
interface Rules {
  /** The names that a property at the top can have. */
  propertyNames?: RegExp;
  /** References are replaced by what they mean, and only listed properties are required. */
  noReferences?: true;
  /** The most tools of a request. */
  mostTools?: number;
}

const anthropicNames = /^[a-zA-Z0-9_.-]{1,64}$/;

/** By public reports of refused requests: decision 0051 has them. */
export const rulesOf: Record<EndpointKind, Rules> = {
  openai_compatible: {},
  openai: { mostTools: 128 },
  azure: { mostTools: 128 },
  anthropic: { propertyNames: anthropicNames },
  bedrock: { propertyNames: anthropicNames },
  google: { noReferences: true },
};

export const endpointKinds = Object.keys(rulesOf) as EndpointKind[];

/** The schema of a tool as the endpoints of a kind take it, or why none of them would. */
export type Fitted = { schema: Schema; fault?: undefined } | { schema?: undefined; fault: string };

/** The schema as an object that lists its properties; null if no object fits it. */
const plainOf = (given: Schema): Schema | null => plainObject(withoutLostReferences(modernSchema(given)));

const madeFit = (plain: Schema | null, { propertyNames, noReferences }: Rules): Fitted => {
  if (!plain) return { fault: 'no object fits its schema, but arguments are an object' };
  const odd = Object.keys(plain.properties as Schema).find((name) => propertyNames?.test(name) === false);
  if (odd !== undefined) {
    return {
      fault: `the name of its argument ${JSON.stringify(odd)} is not 1 to 64 letters, digits, _, . and -`,
    };
  }
  if (!noReferences) return { schema: withoutLostReferences(plain) };
  const whole = withoutReferences(plain);
  return whole
    ? { schema: withoutLostNames(whole) }
    : { fault: 'its schema is too large once its references are replaced' };
};

/** By the object of the schema: the tools of an attempt are the same in each of its steps. */
const fitted = new WeakMap<Schema, Map<EndpointKind, Fitted>>();

/** The schema of the arguments of a tool, made fit for the endpoints of `kind`. */
export const fitSchema = (schema: Schema, kind: EndpointKind): Fitted => {
  const known = fitted.get(schema) ?? new Map<EndpointKind, Fitted>();
  fitted.set(schema, known);
  const result = known.get(kind) ?? madeFit(plainOf(schema), rulesOf[kind]);
  known.set(kind, result);
  return result;
};

/** For each kind whose models cannot get a tool with this schema, why. */
export const schemaWarnings = (schema: Schema): { kind: EndpointKind; message: string }[] => {
  const plain = plainOf(schema);
  return endpointKinds.flatMap((kind) => {
    const { fault } = madeFit(plain, rulesOf[kind]);
    return fault === undefined
      ? []
      : [{ kind, message: `Models of this kind do not get the tool: ${fault}.` }];
  });
};
