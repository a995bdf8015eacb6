import type { Notice } from '../messages/notice.ts';
import type { Posted } from '../messages/store.ts';
import type { Subject } from '../messages/subject.ts';
import type { ChannelKind, SettingsOf } from '../settings.ts';
import type { TestSteps } from '../test-steps.ts';

/** A person whom a message is for. */
interface Person {
  id: string;
  name: string;
  /** Verified, in ASCII lower case. */
  email: string;
}

/** A message that is to be sent. */
export interface Outgoing {
  /** Of the message: the same in every attempt. */
  id: string;
  notice: Notice;
  subject: Subject;
  /** Whether the arguments of calls are shown. */
  withArguments: boolean;
  /** `channel`, an e-mail address, or a person. */
  to: 'channel' | { address: string } | { person: Person };
  /** What was posted last; null: nothing yet. */
  posted: Posted | null;
  signal: AbortSignal;
}

/**
 * What came of an attempt. `delivered`: what was posted. `failed`: no other attempt would help; `blamesChannel` if others in
 * the channel have the same problem. `retry`: it is sent again, not before `retryAfterMs`; `pausesChannel` if the receiver
 * wants nothing at all before then. `error` is a sentence for a person.
 */
export type SendResult =
  | { outcome: 'delivered'; posted: Omit<Posted, 'type'> }
  | { outcome: 'failed'; error: string; blamesChannel: boolean }
  | { outcome: 'retry'; error: string; retryAfterMs: number | null; pausesChannel?: boolean };

/** Whom a test sends its message to. */
export interface TestContext {
  /** The id of the channel. */
  id: string;
  /** The verified e-mail of the caller; null: there is none. */
  callerEmail: string | null;
  steps: TestSteps;
}

/** A kind of channels: how a message is sent, and how its settings are tested. */
export interface Kind<K extends ChannelKind> {
  /** Sends a message once, within `sendMs`. Rejects only if `signal` is aborted. */
  send(settings: SettingsOf<K>, message: Outgoing): Promise<SendResult>;
  /** Passes the steps. Throws TestFailure for the one that failed. */
  test(settings: SettingsOf<K>, context: TestContext): Promise<void>;
}

/** The time limit of one attempt, in milliseconds. */
export const sendMs = 15_000;
