import { rm } from 'node:fs/promises';
import type { FileBytes, StoredFile } from '../files/index.ts';
import { unprocessable } from '../lib/errors.ts';
import type { AskModel } from '../llm-configurations/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import { type Configurations, llmOf, readingOf } from './configuration/configuration.ts';
import { type Extracted, extract, maxRunMs } from './extractions/extract.ts';
import { ExtractionFailure, errorOf } from './extractions/failure.ts';
import { maxDocumentCharacters } from './extractions/prompt.ts';
import { readRequest } from './extractions/request.ts';
import { copyOut } from './extractions/waiting.ts';
import { readEmbedded } from './readers/embedded.ts';
import { type DocumentToRead, kindOf, type ReadDocument, type readDocument } from './readers/index.ts';

/** Who calls a tool, and which file of its conversation or Work Item it means. */
interface AgentCaller {
  agentId: string;
  file: StoredFile;
  signal: AbortSignal;
}

/** Documents for agents. Nothing is recorded but the tool call. Both throw 422 with `reason` if it is refused. */
export interface AgentDocuments {
  /** Reads pages, at most 20, up to so many characters. It is read on this machine, whatever reader is configured. */
  read(
    caller: AgentCaller,
    wanted: { from: number; to: number | null; characters: number },
  ): Promise<ReadDocument>;
  /** Extracts data by the LLM that is configured, else by that of the agent. */
  extract(
    caller: AgentCaller,
    wanted: { schema: Record<string, unknown>; instructions: string | undefined },
  ): Promise<Extracted>;
}

/** As many as are read by OCR, so that no page is left out of those that are asked for. */
const maxPages = 20;

interface Parts {
  bytes: FileBytes;
  settings: CurrentSettings;
  configurations: Configurations;
  readers: Parameters<typeof readDocument>[0];
  askModel: AskModel;
  /** The folder of documents that wait. */
  folder: string;
}

/** Returns 422 for an error that the caller can fix. */
const refusalOf = (error: unknown): unknown => {
  const { code, message } = errorOf(error);
  return code === 'internal_error' ? error : unprocessable([{ path: 'name', message }], { reason: code });
};

export const agentDocuments = (parts: Parts): AgentDocuments => {
  const { bytes, settings, configurations, readers, askModel, folder } = parts;

  /** Runs `work` with the document, which waits on this machine, and how it is to be read. */
  const withDocument = async <T>(
    { file, signal }: AgentCaller,
    work: (document: Omit<DocumentToRead, 'ranges' | 'maxPages' | 'maxCharacters'>) => Promise<T>,
  ): Promise<T> => {
    const kind = kindOf(file.content_type, file.name);
    if (!kind) {
      const message = `A file of type ${file.content_type} cannot be read.`;
      throw unprocessable([{ path: 'name', message }], { reason: 'unsupported' });
    }
    const limit = AbortSignal.timeout(maxRunMs);
    const path = await copyOut(bytes, file.id, folder);
    try {
      return await work({
        path,
        kind,
        contentType: file.content_type,
        name: file.name,
        ...readingOf(await configurations.read()),
        onStart: () => {},
        signal: AbortSignal.any([signal, limit]),
      });
    } catch (error) {
      signal.throwIfAborted();
      const late = new ExtractionFailure('time_limit', 'Reading took more than 300 s.');
      throw refusalOf(limit.aborted ? late : error);
    } finally {
      await rm(path, { force: true });
    }
  };

  return {
    read: (caller, { from, to, characters }) =>
      withDocument(caller, (document) =>
        readEmbedded(readers.sandbox, {
          ...document,
          ranges: [[from, Math.min(to ?? Number.POSITIVE_INFINITY, from + maxPages - 1)]],
          maxPages,
          maxCharacters: characters,
        }),
      ),
    extract: (caller, { schema, instructions }) => {
      const request = readRequest({ schema, instructions, options: undefined });
      return withDocument(caller, async (document) =>
        extract(
          { ...readers, askModel },
          {
            document: {
              ...document,
              ranges: null,
              maxPages: settings.get().MAX_EXTRACTION_PAGES,
              maxCharacters: maxDocumentCharacters,
            },
            llm: llmOf(await configurations.read(), caller.agentId),
            ...request,
          },
        ),
      );
    },
  };
};
