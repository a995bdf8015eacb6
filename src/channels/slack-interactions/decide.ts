import { addressees } from '../../access/index.ts';
import { auditRefused, findAuditedSince } from '../../audit/index.ts';
import { advisoryRowLock, type Database, type Executor, type Tx } from '../../database/index.ts';
import type { Egress } from '../../lib/egress.ts';
import { ApiError, messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { type Actor, type Principal, type Role, roleAllows, systemActor } from '../../lib/principal.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { slackMessage, slackNote } from '../kinds/slack/blocks.ts';
import { slackClient, slackFailureOf } from '../kinds/slack/client.ts';
import { updateSlackMessage } from '../kinds/slack/index.ts';
import { noticeOf, reviewSentence } from '../messages/notice.ts';
import { findPostedInSlack } from '../messages/store.ts';
import type { ShownReview, Subject, Subjects } from '../messages/subject.ts';
import type { ChannelSettingsStore, SettingsOf } from '../settings.ts';
import type { ChannelRow } from '../store.ts';
import type { Click } from './click.ts';
import { SlackPeople } from './people.ts';

interface DecideBody {
  decisions: {
    approval_id: string;
    decision: 'approve' | 'deny';
    arguments: undefined;
    reason: string | undefined;
  }[];
  message: undefined;
}

/** What decides on reviews and acknowledges alerts, in a transaction. They throw what the API answers. */
export interface Deciders {
  findReview(tx: Tx, id: string): Promise<{ owner_id: string | null } | undefined>;
  seesReview(review: { owner_id: string | null }, principal: Principal): boolean;
  decide(
    tx: Tx,
    actor: Actor,
    id: string,
    body: DecideBody,
    by: { via: 'slack'; details: Record<string, unknown> },
  ): Promise<unknown>;
  acknowledge(tx: Tx, actor: Actor, id: string, note: string | null): Promise<unknown>;
}

interface Parts {
  db: Database;
  log: Logger;
  egress: Egress;
  settings: CurrentSettings;
  store: ChannelSettingsStore;
  subjects: Subjects;
  deciders: Deciders;
  publicUrl: () => string;
}

/** What became of a click. `told`: what the person who clicked is told, if anything. */
type Outcome = { done: true } | { done: false; told: string | null; isRefusal: boolean };

const done: Outcome = { done: true };
const refused = (told: string): Outcome => ({ done: false, told, isRefusal: true });

/** For how long a refusal of the same person on the same review is not audited again, in hours. */
const auditEveryHours = 1;

const denialReason = 'Denied in Slack.';

const roleRefusal = (what: string, required: Role, role: Role): string =>
  `${what} requires the role ${required}; you are ${role}.`;

/** Returns whether the review was decided as the click asks. */
const isDecidedSo = (review: ShownReview, action: Click['action']): boolean =>
  review.state === 'decided' &&
  review.approvals.some(({ decision }) => decision === 'approve') === (action === 'approve');

/** Decides by clicks in Slack: by whom Slack vouches for, and whom exactly one person here is. */
export class SlackDecisions {
  readonly #parts: Parts;
  readonly #people: SlackPeople;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#people = new SlackPeople(parts.egress);
  }

  /** Handles a click. `row`: the channel, which is on. Resolves when all is said; `onCommitted` is called once it is decided. */
  async handle(row: ChannelRow, click: Click, onCommitted: () => void): Promise<void> {
    const { log, store } = this.#parts;
    const settings = store.open(row) as SettingsOf<'slack'>;
    const { outcome, principal } = await this.#decide(row, settings, click);
    if (!outcome.done && outcome.isRefusal && click.what.type === 'review') {
      await this.#audit(row, click, principal, outcome.told!).catch((error) =>
        log.error({ channel_id: row.id, error: messageOf(error) }, 'a refusal was not audited'),
      );
    }
    onCommitted();
    await Promise.all([
      outcome.done || outcome.told === null ? null : this.#tell(settings, click, outcome.told),
      this.#refresh(row, settings, click),
    ]).catch((error) =>
      log.warn(
        { channel_id: row.id, error: slackFailureOf(error).message },
        'a click was handled, and its message in Slack was not updated',
      ),
    );
  }

  async #decide(
    row: ChannelRow,
    settings: SettingsOf<'slack'>,
    click: Click,
  ): Promise<{ outcome: Outcome; principal: Principal | null }> {
    const { db } = this.#parts;
    if (!settings.buttons) {
      return { outcome: refused('Deciding in Slack is turned off for this channel.'), principal: null };
    }
    const person = await this.#people.find({ id: row.id, revision: row.revision, settings }, click.user);
    if ('refused' in person) return { outcome: refused(person.refused), principal: null };
    const days = this.#parts.settings.get().PERSONAL_KEY_CONFIRMATION_DAYS;
    const found = await db.run((executor) => addressees.findPrincipalByEmail(executor, person.email, days));
    if ('refused' in found) return { outcome: refused(found.refused), principal: null };
    const { principal } = found;
    const actor: Actor = { ...systemActor, principal, via: 'channel' };
    const details = { channel_id: row.id, channel_user: click.user };
    const outcome =
      click.what.type === 'review'
        ? await this.#decideReview(actor, click, details)
        : await this.#acknowledge(actor, click);
    return { outcome, principal };
  }

  async #decideReview(actor: Actor, click: Click, details: Record<string, unknown>): Promise<Outcome> {
    const { db, deciders, subjects } = this.#parts;
    const { principal } = actor;
    const { id } = click.what;
    try {
      return await db.tx(async (tx) => {
        const own = await deciders.findReview(tx, id);
        const review = own && (await subjects.readReview(tx, id));
        if (!review || !deciders.seesReview(own, principal)) {
          return refused('You do not see this review, or it does not exist any more.');
        }
        if (review.state !== 'open') return this.#late(review, principal, click);
        if (!roleAllows(principal.role, review.required_role)) {
          return refused(roleRefusal('Deciding', review.required_role, principal.role));
        }
        const decision = click.action === 'approve' ? 'approve' : 'deny';
        const reason = decision === 'deny' ? denialReason : undefined;
        const decisions = review.approvals.map(({ approval_id }) => ({
          approval_id,
          decision: decision as 'approve' | 'deny',
          arguments: undefined,
          reason,
        }));
        await deciders.decide(tx, actor, id, { decisions, message: undefined }, { via: 'slack', details });
        return done;
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 'service_unavailable') throw error;
      const review = await db.run((executor) => subjects.readReview(executor, id));
      if (review && review.state !== 'open') return this.#late(review, principal, click);
      return refused(error.message);
    }
  }

  /** Someone was faster. Who clicks again what they have decided already is told nothing. */
  #late(review: ShownReview, principal: Principal, { action }: Click): Outcome {
    const isOwn = review.closed_by?.id === principal.id && isDecidedSo(review, action);
    return { done: false, told: isOwn ? null : reviewSentence(review), isRefusal: false };
  }

  async #acknowledge(actor: Actor, click: Click): Promise<Outcome> {
    const { db, deciders } = this.#parts;
    const { role } = actor.principal;
    if (!roleAllows(role, 'builder')) return refused(roleRefusal('Acknowledging', 'builder', role));
    try {
      await db.tx((tx) => deciders.acknowledge(tx, actor, click.what.id, null));
      return done;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 'service_unavailable') throw error;
      return { done: false, told: error.message, isRefusal: false };
    }
  }

  /** Writes a refusal, unless the same person was refused on the same review within the hour. */
  async #audit(row: ChannelRow, click: Click, principal: Principal | null, reason: string): Promise<void> {
    const { db } = this.#parts;
    const { id } = click.what;
    const name = `${click.user} in Slack`;
    const unknown: Principal = {
      ...systemActor.principal,
      kind: 'unknown',
      id: click.user,
      rootId: click.user,
      name,
      role: 'member',
    };
    const actor: Actor = { ...systemActor, principal: principal ?? unknown, via: 'channel' };
    await db.tx(async (tx) => {
      await advisoryRowLock(tx, 'refused clicks', `${id} ${click.user}`);
      const details = { channel_user: click.user };
      if (await findAuditedSince(tx, 'review.refuse', id, details, auditEveryHours)) return;
      await auditRefused(tx, actor, 'review.refuse', id, {
        ...details,
        channel_id: row.id,
        via: 'slack',
        reason,
      });
    });
  }

  #linkOf({ what }: Click): string {
    return `${this.#parts.publicUrl()}/${what.type === 'review' ? 'approve' : 'alerts'}/${what.id}`;
  }

  /** Tells the person who clicked, and no one else. */
  async #tell(settings: SettingsOf<'slack'>, click: Click, sentence: string): Promise<void> {
    const { text, blocks } = slackNote(sentence, this.#linkOf(click));
    await slackClient(this.#parts.egress, settings).chat.postEphemeral({
      channel: click.conversation,
      user: click.user,
      text,
      blocks,
    } as never);
  }

  /** Updates the message that was clicked, if it is a copy of which nothing is known: its post was acknowledged too late. */
  async #refresh(row: ChannelRow, settings: SettingsOf<'slack'>, click: Click): Promise<void> {
    const { db, subjects, egress, publicUrl } = this.#parts;
    const { conversation, ts, what } = click;
    const subject = await db.run(async (executor: Executor): Promise<Subject | null> => {
      if (await findPostedInSlack(executor, what, row.id, { conversation, ts })) return null;
      if (what.type === 'alert') {
        const alert = await subjects.readAlert(executor, what.id);
        return alert ? { type: 'alert', alert } : null;
      }
      const review = await subjects.readReview(executor, what.id);
      return review ? { type: 'review', review } : null;
    });
    if (subject === null) return;
    const withArguments = row.include_arguments;
    const notice = noticeOf(subject, { publicUrl: publicUrl(), withArguments });
    // Nothing happened to it.
    if (notice.outcome === null) return;
    const message = slackMessage(subject, notice, { buttons: settings.buttons, withArguments });
    await updateSlackMessage(slackClient(egress, settings), { conversation, ts }, message);
  }
}
