import type { Usage } from '../lib/usage.ts';
import type { MessagePart } from '../messages/index.ts';

/** The record of a run that has ended, as a test of its agent needs it. */

export interface RecordedMessage {
  role: 'user' | 'assistant' | 'tool';
  content: MessagePart[];
  /** The reply as its provider gave it; null if the message is all of it, or if it is no reply. */
  provider_parts: unknown;
  /** Usage of the reply; null if it is no reply, or was not recorded. */
  usage: Usage | null;
  /** Code of the error with which the run ended after this message; null if it went on or did not fail. */
  ended_by: string | null;
}

/** Decision of a person on one call. A refusal is also a result, with its text. */
export interface RecordedDecision {
  tool_call_id: string;
  tool_name: string;
  decision: 'approve' | 'deny';
  /** Arguments that the call was made with, if the person changed them. */
  arguments?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

/** One time that a person continued a run, after it had stopped. */
export interface Continuation {
  /**
   * Number of its messages before it stopped. The results of refused calls and then the message of the person come
   * next.
   */
  after: number;
  /** The reason why it had stopped: it waited for people, did not know the outcome of a call, or had failed. */
  stopped: 'needs_review' | 'indeterminate' | 'error';
  decisions: RecordedDecision[];
  /** The message of the person; null if there was none. */
  message: string | null;
}

/** The messages of a run without the system message, oldest first, and how people continued it. */
export interface Recording {
  messages: RecordedMessage[];
  continuations: Continuation[];
}
