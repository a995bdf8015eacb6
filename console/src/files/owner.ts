import type { Params } from '../api/index.ts';

const ofConversation = {
  listFiles: 'listConversationFiles',
  uploadFile: 'createConversationFile',
  downloadFile: 'downloadConversationFile',
  deleteFile: 'deleteConversationFile',
  listFrames: 'listConversationDataFrames',
  makeFrame: 'createConversationDataFrame',
  queryFrames: 'queryConversationDataFrames',
  getFrame: 'getConversationDataFrame',
  listRows: 'listConversationDataFrameRows',
  downloadFrame: 'downloadConversationDataFrame',
  deleteFrame: 'deleteConversationDataFrame',
} as const;

const ofWorkItem = {
  listFiles: 'listWorkItemFiles',
  uploadFile: 'createWorkItemFile',
  downloadFile: 'downloadWorkItemFile',
  deleteFile: 'deleteWorkItemFile',
  listFrames: 'listWorkItemDataFrames',
  makeFrame: 'createWorkItemDataFrame',
  queryFrames: 'queryWorkItemDataFrames',
  getFrame: 'getWorkItemDataFrame',
  listRows: 'listWorkItemDataFrameRows',
  downloadFrame: 'downloadWorkItemDataFrame',
  deleteFrame: 'deleteWorkItemDataFrame',
} as const;

/** A conversation or a Work Item, to which files and data frames belong. */
export interface FileOwner {
  operations: { [K in keyof typeof ofConversation]: (typeof ofConversation)[K] | (typeof ofWorkItem)[K] };
  /** Names it in these operations; an extraction, and the address of the page for a new one, name it by the same. */
  params: Params<'listConversationFiles'> | Params<'listWorkItemFiles'>;
  agentId: string;
  /** The reason why its files cannot be changed now. */
  fixed: string | null;
}

export const conversationOwner = (params: Params<'listConversationFiles'>): FileOwner => ({
  operations: ofConversation,
  params,
  agentId: params.agent_id,
  fixed: null,
});

export const workItemOwner = (agentId: string, id: string, fixed: string | null): FileOwner => ({
  operations: ofWorkItem,
  params: { work_item_id: id },
  agentId,
  fixed,
});

const endingOf = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';

const tables = new Set(['csv', 'tsv', 'json', 'ndjson', 'jsonl', 'parquet', 'xlsx']);
const documents = /^(image\/(png|jpeg|tiff|webp)|application\/pdf|text\/)/;
const office = new Set(['docx', 'xlsx', 'csv', 'tsv', 'html', 'htm', 'md', 'txt']);

/** Recognizes a table by its name; the platform decides it by the bytes. */
export const isTable = (name: string): boolean => tables.has(endingOf(name));
export const isSpreadsheet = (name: string): boolean => endingOf(name) === 'xlsx';
/** A table and nothing else: rows without text to read. */
export const isPlainTable = (name: string): boolean => isTable(name) && !isSpreadsheet(name);
export const isDocument = ({ name, content_type }: { name: string; content_type: string }): boolean =>
  documents.test(content_type) || office.has(endingOf(name));
