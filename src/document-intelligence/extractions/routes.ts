import { rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { audit } from '../../audit/index.ts';
import type { Database } from '../../database/index.ts';
import { cleanName, contentTypeOf, type FileBytes, fileCalls, type OwnerKind } from '../../files/index.ts';
import {
  type Context,
  finder,
  id,
  jsonObject,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  timestamp,
  type UploadContext,
  type UploadSpec,
  uploadRoute,
} from '../../http/index.ts';
import { type ApiError, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Principal } from '../../lib/principal.ts';
import type { AskModel } from '../../llm-configurations/index.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { type Configurations, llmOf, readingOf } from '../configuration/configuration.ts';
import { kindOf, type readDocument } from '../readers/index.ts';
import { extract } from './extract.ts';
import type { ExtractionRecord, ExtractionSummary, Extractions } from './extractions.ts';
import { maxDocumentCharacters } from './prompt.ts';
import { type ExtractionRequest, extractionBody, readForm, readRequest } from './request.ts';
import { type ExtractionRow, findExtraction, listExtractions } from './store.ts';
import { copyOut, waitingPath } from './waiting.ts';

const box = z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() });
const listed = {
  id,
  status: z.enum(['PENDING', 'RUNNING', 'COMPLETED', 'ERROR']),
  file: z.object({
    name: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    sha256: z.string(),
    pages: z.int().nullable().describe('Of the whole document; null until it is read.'),
  }),
  valid: z
    .boolean()
    .nullable()
    .describe('Whether each required key has a value and no value had the wrong type.'),
  provider: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
  expires_at: timestamp.nullable().describe('When it is deleted; null until it has ended.'),
};
const extractionSummary = z.object(listed).meta({ id: 'ExtractionSummary' });

const extraction = z
  .object({
    ...listed,
    data: jsonObject.nullable().describe('Has every key of the schema.'),
    fields: z
      .custom<object>()
      .nullable()
      .meta({
        openapi: z
          .record(
            z.string(),
            z.object({
              confidence: z.enum(['high', 'medium', 'low']),
              citations: z.array(
                z.object({
                  page: z.int(),
                  line: z.int(),
                  text: z.string(),
                  bbox: box.nullable().describe('From 0 to 1, from the top left of the page.'),
                }),
              ),
            }),
          )
          .nullable(),
      })
      .describe('How sure each value is and where it stands, by JSON Pointer.'),
    warnings: z.array(z.object({ code: z.string(), path: z.string().nullable(), message: z.string() })),
    text: z.string().optional(),
    pages: z
      .array(
        z.object({
          page: z.int(),
          aspect: z
            .number()
            .nullable()
            .describe('Width by height of the page; null if the document has no layout.'),
          lines: z.array(
            z.object({
              text: z.string(),
              bbox: box.nullable(),
              parts: z
                .array(z.object({ text: z.string(), bbox: box }))
                .optional()
                .describe('Where its parts stand, if there are gaps between them.'),
            }),
          ),
        }),
      )
      .optional()
      .describe('The pages as they were read, if `include_pages` was asked for.'),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
  })
  .meta({ id: 'Extraction' });

export interface ExtractionParts {
  db: Database;
  settings: CurrentSettings;
  bytes: FileBytes;
  /** Conversations and Work Items have files. */
  owners: readonly OwnerKind[];
  configurations: Configurations;
  extractions: Extractions;
  upload: UploadSpec;
  readers: Parameters<typeof readDocument>[0];
  askModel: AskModel;
}

/** A document that waits on this machine. */
interface Waiting {
  path: string;
  file: Omit<ExtractionRecord['file'], 'pages'>;
}

export const extractionRoutes = (parts: ExtractionParts): Route[] => {
  const { db, settings, bytes, owners, configurations, extractions, upload, readers, askModel } = parts;

  const toListed = (
    { id, status, created_at, finished_at }: Omit<ExtractionRow, 'record'>,
    { file, valid, provider, error }: ExtractionSummary,
  ) => ({
    id,
    status,
    file,
    valid: valid ?? null,
    provider,
    error: error ?? null,
    created_at,
    finished_at,
    expires_at:
      finished_at && new Date(finished_at.getTime() + settings.get().EXTRACTION_RETENTION_HOURS * 3_600_000),
  });

  const toResponse = (row: ExtractionRow) => {
    const record = extractions.open(row);
    return {
      ...toListed(row, record),
      data: record.data ?? null,
      fields: record.fields ?? null,
      warnings: record.warnings ?? [],
      ...(record.text === undefined ? {} : { text: record.text }),
      ...(record.pages === undefined ? {} : { pages: record.pages }),
      usage: record.usage ?? null,
    };
  };

  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const row = await findOne({ params });
    if (principal.role !== 'admin' && row.created_by !== principal.id) throw notFound('extraction');
    return row;
  };
  const findOne = finder(db, 'extraction', 'extraction_id', findExtraction);

  /** Puts the document of a request where it waits. Its name there is new: the file of a form goes with the request. */
  const wait = async (context: UploadContext<unknown, z.output<typeof extractionBody>>): Promise<Waiting> => {
    const form = context.upload;
    if (form) {
      const path = await waitingPath(upload.folder);
      const name = cleanName(form.filename);
      const content_type = await contentTypeOf(form.path, name);
      await rename(form.path, path);
      return { path, file: { name, content_type, size_bytes: form.size, sha256: form.sha256 } };
    }
    const { file_id, ...params } = context.body.file;
    const kind = owners.find(({ name }) => (name === 'WorkItem') === 'work_item_id' in params)!;
    const owner = await kind.find({ params, principal: context.principal });
    const file = isId(file_id)
      ? await db.run((executor) => fileCalls.find(executor, owner.ids, file_id))
      : undefined;
    if (!file) throw notFound('file');
    const { name, content_type, size_bytes, sha256 } = file;
    const path = await copyOut(bytes, file.id, upload.folder);
    return { path, file: { name, content_type, size_bytes, sha256 } };
  };

  /** Makes the row and begins the work, which removes the file. Resolves to the row's id and the end of the work. */
  const begin = async (
    { actor, transaction }: Pick<Context, 'actor' | 'transaction'>,
    request: ExtractionRequest,
    { path, file }: Waiting,
  ): Promise<{ extractionId: string; done: Promise<ApiError | null> }> => {
    const kind = kindOf(file.content_type, file.name);
    if (!kind) {
      throw unprocessable(
        [{ path: 'file', message: 'must be a PDF, picture, DOCX, XLSX, CSV, HTML or text' }],
        { reason: 'unsupported' },
      );
    }
    const configuration = await configurations.read();
    const extractionId = newId();
    const record = { file: { ...file, pages: null }, provider: configuration.settings.provider };
    await transaction(async (tx) => {
      await extractions.insert(tx, extractionId, actor.principal.id, record);
      const { size_bytes, sha256, content_type } = file;
      await audit(tx, actor, 'extraction.create', extractionId, {
        content_type,
        size_bytes,
        sha256,
        provider: record.provider,
      });
    });
    const done = extractions.run(extractionId, record, path, (signal, onStart) =>
      extract(
        { ...readers, askModel },
        {
          document: {
            path,
            kind,
            contentType: file.content_type,
            name: file.name,
            ranges: request.ranges,
            maxPages: settings.get().MAX_EXTRACTION_PAGES,
            maxCharacters: maxDocumentCharacters,
            ...readingOf(configuration),
            onStart,
            signal,
          },
          llm: llmOf(configuration),
          schema: request.schema,
          instructions: request.instructions,
          includeText: request.includeText,
          includePages: request.includePages,
          requireGrounding: request.requireGrounding,
        },
      ),
    );
    return { extractionId, done };
  };

  return [
    uploadRoute({
      id: 'createExtraction',
      role: 'member',
      scope: 'data',
      request: 'POST /document-intelligence/extract',
      summary: 'Extract data from a document',
      description:
        'Takes a form with the document, or JSON that names a file of a conversation or a Work Item. The response is 202 if the result is not there in time: get the extraction later. The document is not kept.',
      otherStatuses: [400, 404, 412, 422],
      upload,
      body: extractionBody,
      response: { 200: extraction, 202: extraction },
      handler: async (context) => {
        const { upload: form, body, signal, accepted } = context;
        const request = form ? readForm(form.fields) : readRequest(body);
        const waiting = await wait(context);
        const { extractionId, done } = await begin(context, request, waiting).catch(async (error) => {
          await rm(waiting.path, { force: true });
          throw error;
        });
        if (request.waitSeconds > 0) {
          const late = new AbortController();
          const either = AbortSignal.any([signal, late.signal]);
          const refusal = await Promise.race([
            done,
            sleep(request.waitSeconds * 1_000, null, { signal: either }).catch(() => null),
          ]);
          late.abort();
          if (refusal) throw refusal;
        }
        const row = await db.run((executor) => findExtraction(executor, extractionId));
        if (!row) throw notFound('extraction');
        if (row.finished_at === null || request.waitSeconds === 0) accepted();
        return toResponse(row);
      },
    }),
    jsonRoute({
      id: 'listExtractions',
      role: 'member',
      scope: 'data:read',
      request: 'GET /extractions',
      summary: 'List your extractions',
      description: 'Without their results. Those of others are not listed, also for administrators.',
      otherStatuses: [400],
      query: pageQuery,
      response: pageOf('ExtractionPage', extractionSummary),
      handler: listPage(
        db,
        (executor, page, { principal }) => listExtractions(executor, principal.id, page),
        (row) => toListed(row, extractions.openSummary(row)),
      ),
    }),
    jsonRoute({
      id: 'getExtraction',
      role: 'member',
      scope: 'data:read',
      request: 'GET /extractions/{extraction_id}',
      summary: 'Get an extraction',
      find,
      response: extraction,
      handler: async ({ found }) => toResponse(found),
    }),
    jsonRoute({
      id: 'deleteExtraction',
      role: 'member',
      scope: 'data',
      request: 'DELETE /extractions/{extraction_id}',
      summary: 'Delete an extraction',
      description: 'One that is in progress is cancelled.',
      find,
      handler: async ({ found, transaction, actor }) => {
        await transaction(async (tx) => {
          await extractions.remove(tx, found.id);
          await audit(tx, actor, 'extraction.delete', found.id, {});
        });
        extractions.cancel(found.id);
      },
    }),
  ];
};
