import { path } from '../api/index.ts';

/** A conversation or a Work Item, to which files and data frames belong. */
export interface FileOwner {
  /** In the names of the operations: `listConversationFiles`. */
  kind: 'Conversation' | 'WorkItem';
  /** Its agent, who makes data frames with tools. */
  agentId: string;
  /** Its address in the API. */
  path: string;
  /** What an extraction names it by, also in the address of the page for a new one. */
  names: { agent_id: string; conversation_id: string } | { work_item_id: string };
  /** Why its files cannot be changed now; null if they can. */
  fixed: string | null;
}

export const conversationOwner = (agentId: string, id: string): FileOwner => ({
  kind: 'Conversation',
  agentId,
  path: path`/api/v2/agents/${agentId}/conversations/${id}`,
  names: { agent_id: agentId, conversation_id: id },
  fixed: null,
});

export const workItemOwner = (agentId: string, id: string, fixed: string | null): FileOwner => ({
  kind: 'WorkItem',
  agentId,
  path: path`/api/v2/work-items/${id}`,
  names: { work_item_id: id },
  fixed,
});

export const filesPath = (owner: FileOwner): string => `${owner.path}/files`;
export const filePath = (owner: FileOwner, id: string): string => `${filesPath(owner)}${path`/${id}`}`;
export const framesPath = (owner: FileOwner): string => `${owner.path}/data-frames`;
export const framePath = (owner: FileOwner, frame: string): string =>
  `${framesPath(owner)}${path`/${frame}`}`;

const endingOf = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';

const tables = new Set(['csv', 'tsv', 'json', 'ndjson', 'jsonl', 'parquet', 'xlsx']);
const documents = /^(image\/(png|jpeg|tiff|webp)|application\/pdf|text\/)/;
const office = new Set(['docx', 'xlsx', 'csv', 'tsv', 'html', 'htm', 'md', 'txt']);

/** Whether a table can be made of a file. The platform decides it by the bytes; the name says it well enough here. */
export const isTable = (name: string): boolean => tables.has(endingOf(name));
export const isSpreadsheet = (name: string): boolean => endingOf(name) === 'xlsx';
/** A table and nothing else: rows without text to read. */
export const isPlainTable = (name: string): boolean => isTable(name) && !isSpreadsheet(name);
/** Whether data can be extracted from a file. */
export const isDocument = ({ name, content_type }: { name: string; content_type: string }): boolean =>
  documents.test(content_type) || office.has(endingOf(name));
