import { datatypes } from '@agent-platform/sql';
import { z } from 'zod';
import {
  checkedLater,
  id,
  jsonObject,
  limit,
  optional,
  pageOf,
  pageQuery,
  stepsOf,
  text,
  timestamp,
} from '../http/index.ts';
import { required, shownTls, withDefault } from '../resource/index.ts';
import { changedConfiguration, createdConfigurations } from './configuration.ts';
import { tableKinds } from './engines/engine.ts';
import { connectionReasons } from './engines/failures.ts';
import { stepNames } from './engines/progress.ts';
import { engineNames } from './engines/settings.ts';
import { connectionStates, dataConnections } from './store.ts';

const { shown } = dataConnections;
const engine = z.enum(engineNames);
const notAnEngine = `is not supported by this version; supported now: ${engineNames.join(', ')}`;

const unionError = {
  error: (issue: { code?: string }) => (issue.code === 'invalid_union' ? notAnEngine : undefined),
};

const createOf = <E extends (typeof engineNames)[number]>(of: E, documentId: string) =>
  z
    .object({
      engine: z.literal(of),
      ...dataConnections.create,
      configuration: createdConfigurations[of],
    })
    .meta({ id: documentId });

export const createBody = z
  .discriminatedUnion(
    'engine',
    [
      createOf('postgres', 'CreatePostgresConnection'),
      createOf('mysql', 'CreateMysqlConnection'),
      createOf('sqlite', 'CreateSqliteConnection'),
    ],
    unionError,
  )
  .meta({ id: 'CreateDataConnectionBody' });

export const testBody = z
  .discriminatedUnion(
    'engine',
    engineNames.map((of) =>
      z.object({ engine: z.literal(of), configuration: createdConfigurations[of] }),
    ) as unknown as [
      z.ZodObject<{ engine: z.ZodLiteral<'postgres'>; configuration: typeof createdConfigurations.postgres }>,
      z.ZodObject<{ engine: z.ZodLiteral<'mysql'>; configuration: typeof createdConfigurations.mysql }>,
      z.ZodObject<{ engine: z.ZodLiteral<'sqlite'>; configuration: typeof createdConfigurations.sqlite }>,
    ],
    unionError,
  )
  .meta({ id: 'TestDataConnectionBody' });

export const updateBody = z
  .object({
    name: dataConnections.patch.name,
    description: dataConnections.patch.description,
    engine: z.string().optional().describe('Cannot be changed.'),
    configuration: checkedLater(changedConfiguration).describe(
      'Merged key by key. Another host, port, username or tls needs the password again.',
    ),
    tags: dataConnections.patch.tags,
  })
  .meta({ id: 'UpdateDataConnectionBody' });

const { name, description, tags } = dataConnections.fields;

/** Data connections in a workspace document, with their fields in its order. */
export const form = {
  fields: {
    name,
    description,
    engine: required(z.string()).fixed(),
    configuration: withDefault(jsonObject, { tls: { mode: 'verify_full' } }),
    tags,
  },
  body: createBody,
  patch: updateBody,
  secrets: ['configuration.password', 'configuration.tls.client_key'],
  address: ({ configuration }: Record<string, unknown>) => {
    const { host, port, username, tls = {} } = configuration as Record<string, unknown>;
    const { client_key: _, ...others } = tls as Record<string, unknown>;
    return [host, port, username, others];
  },
};

const serverConfiguration = z
  .object({
    host: z.string(),
    port: z.int(),
    database: z.string(),
    username: z.string(),
    password_set: z.boolean(),
    tls: shownTls,
  })
  .meta({ id: 'ShownServerConfiguration' });

export const dataConnection = z
  .object({
    id,
    name: shown.name,
    description: shown.description,
    engine,
    configuration: z.union([
      serverConfiguration,
      z.object({ path: z.string() }).meta({ id: 'ShownSqliteConfiguration' }),
    ]),
    tags: shown.tags,
    status: z
      .object({
        state: z.enum(connectionStates),
        checked_at: timestamp.nullable(),
        detail: z.string().nullable().describe('Why the last attempt failed.'),
      })
      .describe('What came of the last attempt to use it.'),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicDataConnection' });

export const dataConnectionPage = pageOf('DataConnectionPage', dataConnection);

export const listQuery = pageQuery.extend({
  engine: engine.optional(),
  name: text(200).optional().describe('The beginning of the name, without case.'),
});

export const testResult = z
  .object({
    ok: z.boolean(),
    steps: stepsOf(stepNames),
    reason: z
      .enum(connectionReasons)
      .optional()
      .describe('Why it failed, if it did; `denied`: an address, user or file that is not permitted.'),
    server: z.object({ product: z.string(), version: z.string() }).nullable(),
    writable: z.boolean().nullable().describe('Whether the user may change data, by its privileges.'),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    latency_ms: z.int().describe('The duration of the test, in milliseconds.'),
  })
  .meta({ id: 'DataConnectionTestResult' });

export const tablesQuery = z.object({
  limit,
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
  schema: text(200).optional(),
  search: text(200).optional().describe("A part of the table's name, without case."),
});

const columnType = z.enum(datatypes);

const table = z
  .object({
    schema: z.string(),
    name: z.string(),
    kind: z.enum(tableKinds),
    comment: z.string().nullable(),
    row_estimate: z.number().nullable(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string().describe("The engine's name of the type."),
        datatype: columnType,
        nullable: z.boolean(),
        comment: z.string().nullable(),
      }),
    ),
    primary_key: z.array(z.string()),
    unique_keys: z.array(z.array(z.string())),
    foreign_keys: z.array(
      z.object({
        columns: z.array(z.string()),
        to_schema: z.string(),
        to_table: z.string(),
        to_columns: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'DataConnectionTable' });

export const tablePage = z
  .object({
    data: z.array(table).describe('By schema and name.'),
    has_more: z.boolean().describe('Whether there are more records.'),
    next: z.string().describe('Send it as `?next=` to get the next page; empty at the end.'),
  })
  .meta({ id: 'DataConnectionTablePage' });

export const previewBody = z
  .object({
    schema: optional(text(200, 1)),
    table: text(200, 1),
    limit: optional(z.int().min(1).max(100), 20),
  })
  .meta({ id: 'PreviewTableBody' });

export const preview = z
  .object({
    columns: z.array(z.object({ name: z.string(), datatype: columnType })),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
    truncated: z.boolean().describe('Whether there are more rows, or they were too large.'),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
  })
  .meta({ id: 'TablePreview' });
