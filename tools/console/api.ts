interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  items?: Schema;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

export interface ApiDocument {
  openapi: string;
  info: unknown;
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        summary: string;
        'x-required-role'?: string;
        parameters?: Parameter[];
        requestBody?: { required?: boolean; content: Content };
        responses: Record<string, { headers?: unknown; content?: Content }>;
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  id: string;
  summary: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** The content types that the body may have; none if it takes none. */
  body: { types: string[]; required: boolean; schema: Schema } | undefined;
  /** The content types of a success; none if there is no body. */
  returns: { types: string[]; schema: Schema } | undefined;
  /** Whether it takes an `Idempotency-Key`. */
  key: boolean;
  stream: boolean;
  /** Whether it returns the bytes of a file, of any type. */
  download: boolean;
}

const only = (content: Content | undefined) => {
  const types = Object.keys(content ?? {});
  return types.length > 0 ? { types, schema: content![types[0]!]!.schema } : undefined;
};

/** The operations of the document, in its order. */
export const operationsOf = ({ paths }: ApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId: id, summary, parameters = [], requestBody, responses }]) => {
        const body = only(requestBody?.content);
        const returns = only(
          Object.entries(responses).find(([status, { content }]) => status.startsWith('2') && content)?.[1]
            .content,
        );
        return {
          id,
          summary,
          method: method.toUpperCase(),
          path,
          parameters,
          body: body && { ...body, required: requestBody?.required ?? false },
          returns,
          key: parameters.some(({ name }) => name === 'Idempotency-Key'),
          stream: returns?.types.includes('text/event-stream') ?? false,
          download: returns?.types.includes('*/*') ?? false,
        };
      },
    ),
  );
