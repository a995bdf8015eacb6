import type { OwnerIds } from '../../files/index.ts';
import type { Usage } from '../../lib/usage.ts';
import type { MessagePart } from '../../messages/index.ts';
import type { Continuation } from '../../runs/index.ts';
import type { ProviderParts } from '../../runtime/index.ts';
import type { Grader } from '../../trial-options/index.ts';

/** The stored form of a case: one revision, which never changes. */

/** A message of a tape or a history: no system message, no id, no time. */
export interface TapeMessage {
  role: 'user' | 'assistant' | 'tool';
  content: MessagePart[];
}

/**
 * A recorded conversation: of a Work Item the present one, of a run its own messages, from the message that began it
 * (`Message`, then the payload, of a Work Item) to its end. One that was written by hand may lack that first message.
 */
export interface Tape {
  messages: TapeMessage[];
  /** Continuations of the source by people, in their order; `after` counts messages of the tape. */
  continuations: Continuation[];
}

/** The part of a recorded reply that is never shown. */
export interface RecordedReply {
  /** The reply as its provider gave it; null if the message is all of it. */
  provider_parts: ProviderParts | null;
  /** Null if it was not recorded. */
  usage: Usage | null;
  /** As in `StepResult`: `stop`, `length`, `content-filter` or `tool-calls`. */
  finish_reason: string;
  /** The names of tools that the model did not get, as in `StepResult`. */
  left_out: string[];
}

/** A data frame that a call made. The case has a copy of it under this name, as it was at the end of the source. */
export interface MadeFrame {
  tool_call_id: string;
  data_frame: string;
}

export interface CaseInput {
  message: string;
  /** Empty for a conversation. */
  payload: Record<string, unknown>;
  /** The messages before; empty for a Work Item. */
  history: TapeMessage[];
}

/** The content of one revision of a case. */
export interface CaseContent {
  case_id: string;
  revision: number;
  name: string;
  input: CaseInput;
  /** Null: nothing is expected. */
  expected: unknown;
  graders: Grader[];
  /** Null: nothing was recorded. */
  tape: Tape | null;
  /**
   * One for each assistant message of the tape, in their order; null for a reply that was written or changed by hand.
   * Empty without a tape.
   */
  replies: (RecordedReply | null)[];
  /** Frames of the case that are not here were there before the run began. */
  made: MadeFrame[];
}

/** The owner of the files and data frames of a case; all its revisions have the same. */
export const caseOwner = (caseId: string): OwnerIds => ({
  conversation_id: null,
  work_item_id: null,
  case_id: caseId,
});
