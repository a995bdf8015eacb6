import { claimFor, claimWorkItems, findClaimableAgents } from './claims.ts';
import { keepWorkItem, lockDraft } from './files.ts';
import {
  appendMessage,
  appendMessages,
  firstMessageInsertion,
  listConversation,
  listConversations,
} from './history-store.ts';
import { readRecording } from './recording.ts';
import { cancelRunning, findWorkItemStarts, watchRunning } from './running.ts';
import { recordLateResult } from './runs.ts';
import { readStart } from './start.ts';
import { actionNames, allowedActions } from './states.ts';
import { findSpanStep, hasTrace, insertEndedSteps } from './step-store.ts';
import { countReviews, findWorkItem, findWorkItemOutcomes, listOpenness, listWorkItems } from './store.ts';
import { act, checkPayloadSize, createWorkItem, getWorkItem } from './work-items.ts';

/** The calls that other features make, in their own transactions. Each needs nothing but the database. */
export const workItemCalls = {
  get: getWorkItem,
  find: findWorkItem,
  list: listWorkItems,
  listOpenness,
  findStarts: findWorkItemStarts,
  findOutcomes: findWorkItemOutcomes,
  countReviews,
  readRecording,

  create: createWorkItem,
  checkPayloadSize,
  readStart,
  act,
  actionNames,
  allowedActions,
  cancelRunning,
  watchRunning,
  keep: keepWorkItem,
  lockDraft,

  claim: claimWorkItems,
  claimFor,
  findClaimableAgents,
  appendMessage,
  appendMessages,
  firstMessageInsertion,
  listMessages: listConversation,
  listMessagesOfMany: listConversations,
  insertEndedSteps,
  hasTrace,
  findSpanStep,
  recordLateResult,
};
