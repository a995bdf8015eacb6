import type {
  PendingApproval,
  ToolCallPart,
  ToolResultPart,
  MessagePart as WholePart,
} from '../api/types.gen.ts';

export type { PendingApproval, ToolCallPart, ToolResultPart };

/** `cut`: only the beginning is there; of arguments as text. */
export type MessagePart = WholePart & { cut?: true | undefined };

/** A message as this folder shows it: one of a Work Item or of a conversation. */
export interface ShownMessage {
  id: string;
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: readonly MessagePart[];
  /** Null of a message that was recorded without its time. */
  created_at: string | null;
  /** The name of a person, a schedule or the agent. */
  author: string;
  /** Next to the author: the model, "schedule". */
  note?: string | undefined;
  /** It is being written: its text is not folded while it grows. */
  live?: boolean | undefined;
  /** The size of the whole content, and where it is, if the API sent only the beginning of a part. */
  whole?: Whole | undefined;
}

export interface Whole {
  bytes: number;
  href: string;
}

/** A call with what became of it. */
export interface ShownCall {
  call: ToolCallPart;
  result: ToolResultPart | null;
  /** From the message with the call to the one with the result, in milliseconds. */
  took: number | null;
  /** The address of the whole arguments or result, if they are cut. */
  wholeCall: Whole | null;
  wholeResult: Whole | null;
  approval: PendingApproval | null;
}

export interface Decision {
  approval_id: string;
  decision: 'approve' | 'deny';
  arguments?: Record<string, unknown>;
  reason?: string;
}
