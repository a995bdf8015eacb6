import { addressees } from '../../access/index.ts';
import type { Database } from '../../database/index.ts';
import { AttemptLoop } from '../../lib/attempt-loop.ts';
import { messageOf } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { Redactor } from '../../lib/redactor.ts';
import { channelsChanged } from '../channels.ts';
import type { Kinds, Outgoing, SendResult } from '../kinds/index.ts';
import { type ChannelKind, type ChannelSettingsStore, secretsIn } from '../settings.ts';
import { recordChannelResult } from '../store.ts';
import { noticeOf } from './notice.ts';
import { retryDelayMs } from './retries.ts';
import {
  type AttemptEnd,
  type ClaimedMessage,
  claimMessages,
  deleteMessage,
  endAttempt,
  messagesDue,
  nextMessageIn,
  releaseMessage,
  theChannel,
} from './store.ts';
import { eventOf, type Subject, type Subjects } from './subject.ts';

/** Time that attempts may continue after a stop before they are released, in milliseconds. */
const graceMs = 4_000;
/** A Retry-After of 0 would be a loop. */
const shortestPauseMs = 1_000;

type AttemptOutcome = 'delivered' | 'retried' | 'failed';

interface DeliveryParts {
  db: Database;
  log: Logger;
  store: ChannelSettingsStore;
  kinds: Kinds;
  subjects: Subjects;
  /** Returns the address of the platform without a slash at the end. */
  publicUrl: () => string;
  /** An attempt ended. */
  onAttempt: (kind: ChannelKind, outcome: AttemptOutcome) => void;
}

const failed = (error: string): SendResult => ({ outcome: 'failed', error, blamesChannel: false });

/** The loop of one replica that sends messages. */
export class MessageDelivery {
  readonly #parts: DeliveryParts;
  readonly loop: AttemptLoop<ClaimedMessage>;

  constructor(parts: DeliveryParts) {
    const { db, log } = parts;
    this.#parts = parts;
    this.loop = new AttemptLoop<ClaimedMessage>({
      name: 'messages of channels',
      log,
      graceMs,
      claim: (limits) => db.tx((tx) => claimMessages(tx, limits)),
      nextIn: (full) => db.run((executor) => nextMessageIn(executor, full)),
      destinationOf: ({ channel_id }) => channel_id,
      attempt: (message, signal) =>
        this.#attempt(message, signal)
          .catch((error) => {
            if (signal.aborted) return db.run((executor) => releaseMessage(executor, message));
            log.error(
              { message_id: message.id, error: messageOf(error) },
              'the end of a message was not stored; it is sent again when its lease ends',
            );
          })
          .catch(() => {}),
    });
  }

  /** Listens for new messages, before any is made. */
  listen(): void {
    this.#parts.db.listen(messagesDue, this.loop.wake);
    this.#parts.db.listen(channelsChanged, this.loop.wake);
  }

  /** Sends a message once, as what it is about is now, and records what came of it. */
  async #attempt(message: ClaimedMessage, signal: AbortSignal): Promise<void> {
    const { db, log, onAttempt } = this.#parts;
    const subject = await this.#read(message);
    // It was removed, and this with it.
    if (subject === undefined) return db.run((executor) => deleteMessage(executor, message.id));
    const { result, attempted } = await this.#send(message, subject, signal);
    const end = this.#endOf(message, subject, result);
    const state = await db.run((executor) => endAttempt(executor, message, end));
    if (attempted) await this.#recordChannel(message, result);
    const { outcome } = result;
    if (attempted)
      onAttempt(
        message.channel_kind,
        outcome === 'retry' ? (state === 'failed' ? 'failed' : 'retried') : outcome,
      );
    if (state === 'failed' && attempted) {
      const { id, channel_id, subject_id } = message;
      log.warn({ message_id: id, channel_id, subject_id, error: end.error }, 'a message was given up');
    }
  }

  async #read({ subject_type, subject_id }: ClaimedMessage): Promise<Subject | undefined> {
    const { db, subjects } = this.#parts;
    return db.run(async (executor) => {
      if (subject_type === 'review') {
        const review = await subjects.readReview(executor, subject_id);
        return review && { type: 'review', review };
      }
      const alert = await subjects.readAlert(executor, subject_id);
      return alert && { type: 'alert', alert };
    });
  }

  /** Resolves to whom the message is for, or to why there is no one. */
  async #recipientOf({ recipient, recipient_name }: ClaimedMessage): Promise<Outgoing['to'] | string> {
    if (recipient === theChannel) return theChannel;
    if (recipient_name === null || !isId(recipient)) return { address: recipient };
    const [person] = await this.#parts.db.run((executor) => addressees.listByIds(executor, [recipient]));
    if (!person?.isActive) return `${recipient_name} has no access any more.`;
    if (person.email === null) return `${person.name} has no verified e-mail.`;
    return { person: { id: person.id, name: person.name, email: person.email } };
  }

  /** `attempted`: the channel was used. */
  async #send(
    message: ClaimedMessage,
    subject: Subject,
    signal: AbortSignal,
  ): Promise<{ result: SendResult; attempted: boolean }> {
    const { store, kinds, publicUrl } = this.#parts;
    const { posted } = message;
    const type = eventOf(subject);
    const notAttempted = (result: SendResult) => ({ result, attempted: false });
    if (posted === null && type === 'review.closed') {
      return notAttempted(failed('Closed before it was delivered.'));
    }
    // Only Slack shows more of what it has shown already.
    if (posted?.type === type && message.channel_kind !== 'slack') {
      return notAttempted({ outcome: 'delivered', posted });
    }
    const to = await this.#recipientOf(message);
    if (typeof to === 'string' && to !== theChannel) return notAttempted(failed(to));
    const settings = store.open({ id: message.channel_id, settings: message.channel_settings });
    const withArguments = message.include_arguments;
    const result = await kinds.send(settings, {
      id: message.id,
      notice: noticeOf(subject, { publicUrl: publicUrl(), withArguments }),
      subject,
      withArguments,
      to,
      posted,
      signal,
    });
    if (result.outcome === 'delivered') return { result, attempted: true };
    return {
      result: { ...result, error: new Redactor(secretsIn(settings)).text(result.error) },
      attempted: true,
    };
  }

  #endOf({ failures }: ClaimedMessage, subject: Subject, result: SendResult): AttemptEnd {
    switch (result.outcome) {
      case 'delivered':
        return {
          state: 'delivered',
          error: null,
          posted: { ...result.posted, type: eventOf(subject) },
          retryInMs: null,
        };
      case 'failed':
        return { state: 'failed', error: result.error, posted: null, retryInMs: null };
      case 'retry':
        return {
          state: 'pending',
          error: result.error,
          posted: null,
          retryInMs: retryDelayMs(failures + 1, result.retryAfterMs),
        };
    }
  }

  async #recordChannel({ channel_id, channel_revision }: ClaimedMessage, result: SendResult): Promise<void> {
    if (result.outcome === 'failed' && !result.blamesChannel) return;
    await this.#parts.db.run((executor) =>
      recordChannelResult(executor, {
        id: channel_id,
        revision: channel_revision,
        error: result.outcome === 'delivered' ? null : result.error,
        ...(result.outcome === 'retry' &&
          result.pausesChannel && { pauseMs: Math.max(shortestPauseMs, result.retryAfterMs ?? 0) }),
      }),
    );
  }
}
