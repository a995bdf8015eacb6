import { z } from 'zod';
import type { Database } from '../database/index.ts';
import type { AgentDocuments } from '../document-intelligence/index.ts';
import { type FileBytes, fileCalls, type StoredFile } from '../files/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { fence } from '../lib/fence.ts';
import { orRefusal } from '../lib/tool-results.ts';
import { showExtracted } from './show-extracted.ts';
import { shownText, showPages } from './show-pages.ts';
import { define, type Tool, type ToolContext } from './tools.ts';

export interface DocumentTools {
  db: Database;
  bytes: FileBytes;
  documents: AgentDocuments;
}

/** Files that are shown as they are. The text of an HTML file is what a reader sees. */
const isText = ({ content_type, name }: StoredFile): boolean =>
  (content_type.startsWith('text/') && !/\.html?$/i.test(name)) ||
  ['application/json', 'application/x-ndjson'].includes(content_type);

/** The characters of a text file from `offset` on, and whether there are more. */
const readText = async (bytes: AsyncIterable<Buffer>, offset: number) => {
  const decoder = new TextDecoder();
  let [passed, text] = [0, ''];
  for await (const chunk of bytes) {
    const part = decoder.decode(chunk, { stream: true });
    text += part.slice(Math.max(0, offset - passed));
    passed += part.length;
    if (text.length > shownText) break;
  }
  return { text: text.slice(0, shownText), more: text.length > shownText };
};

const showText = async (bytes: AsyncIterable<Buffer>, offset: number): Promise<string> => {
  const { text, more } = await readText(bytes, offset);
  const next = more ? `There is more: go on with offset ${offset + text.length}.` : 'This is its end.';
  return `${fence(text)}\n${next}`;
};

const page = z.int().min(1).max(1_000_000);
const name = z.string().describe('The name of the file.');

/** The tools for the documents among the files of the conversation or Work Item that an agent works on. */
export const documentTools = ({ db, bytes, documents }: DocumentTools): readonly Tool[] => {
  const fileOf = async ({ owner, filesOf = owner }: ToolContext, wanted: string): Promise<StoredFile> => {
    const file = await db.run((executor) => fileCalls.findByName(executor, filesOf, wanted));
    if (file) return file;
    throw unprocessable([
      { path: 'name', message: 'There is no file of this name; `list_files` lists them.' },
    ]);
  };
  return [
    define(
      {
        name: 'read_file',
        description:
          'Read a file of this conversation or Work Item, 20,000 characters at a time: text, Markdown, CSV, JSON, HTML, PDF, DOCX, XLSX, and pictures if OCR is installed. To compute with a table, make a data frame of it instead.',
      },
      z.object({
        name,
        page_from: page.optional().describe('The first page of a document; 1 if it is left out.'),
        page_to: page.optional().describe('The last page; at most 20 are read at once.'),
        offset: z
          .int()
          .min(0)
          .max(1_000_000_000)
          .default(0)
          .describe('How many characters to pass over first, from the first page on.'),
      }),
      ({ name: wanted, page_from = 1, page_to = null, offset }, context) =>
        orRefusal(async () => {
          const file = await fileOf(context, wanted);
          if (isText(file)) return showText(bytes.read(file.id), offset);
          if (page_to !== null && page_to < page_from) {
            throw unprocessable([{ path: 'page_to', message: 'must not be before page_from' }]);
          }
          const { agentId, signal } = context;
          // Reads one character more, to see that there are more.
          const characters = offset + shownText + 1;
          const asked = { from: page_from, to: page_to, characters };
          const read = await documents.read({ agentId, file, signal }, asked);
          return showPages(read, { from: page_from, to: page_to, offset });
        }),
    ),
    define(
      {
        name: 'extract_from_file',
        description:
          'Extract data from a document of this conversation or Work Item (PDF, DOCX, XLSX, picture, text). The result says how sure each value is and where it stands in the document: tell people of values whose confidence is low.',
      },
      z.object({
        name,
        schema: z
          .looseObject({})
          .describe(
            'JSON Schema of the data: an object with at most 200 values. Types: string, number, integer, boolean, object, array.',
          ),
        instructions: z.string().max(10_000).optional().describe('What to know besides the schema.'),
      }),
      async ({ name: wanted, schema, instructions }, context) => {
        const { agentId, signal } = context;
        let usage: Awaited<ReturnType<AgentDocuments['extract']>>['usage'] | undefined;
        const result = await orRefusal(async () => {
          const file = await fileOf(context, wanted);
          const extracted = await documents.extract({ agentId, file, signal }, { schema, instructions });
          usage = extracted.usage;
          return showExtracted(extracted);
        });
        return { ...result, ...(usage && { usage }) };
      },
    ),
  ];
};
