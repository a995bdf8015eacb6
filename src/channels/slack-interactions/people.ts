import type { UsersInfoResponse } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import type { Egress } from '../../lib/egress.ts';
import { slackClient, slackFailureOf } from '../kinds/slack/client.ts';
import type { SettingsOf } from '../settings.ts';

/** For how long an answer of Slack counts, in milliseconds. */
const cacheTtlMs = 60_000;
const mostCached = 10_000;

/** Who someone in Slack is: an e-mail that Slack has confirmed, or a sentence that says why that is not known. */
export type SlackPerson = { email: string } | { refused: string };

/** The channel, and its settings, whose workspace is asked. */
export interface AskedChannel {
  id: string;
  revision: number;
  settings: SettingsOf<'slack'>;
}

type SlackUser = UsersInfoResponse['user'];

const silent = 'Slack did not say who you are.';

/**
 * Asks Slack who someone is. Only people of the workspace of the bot count: in a channel that is shared with another
 * company, that company's administrator chooses the e-mails of its people.
 */
export class SlackPeople {
  readonly #egress: Pick<Egress, 'fetch'>;
  readonly #teams = new LRUCache<string, string>({ max: 1_000, ttl: cacheTtlMs });
  readonly #people = new LRUCache<string, SlackPerson>({ max: mostCached, ttl: cacheTtlMs });

  constructor(egress: Pick<Egress, 'fetch'>) {
    this.#egress = egress;
  }

  /** Never rejects because of what Slack does. */
  async find(channel: AskedChannel, userId: string): Promise<SlackPerson> {
    const key = `${channel.id} ${channel.revision} ${userId}`;
    const cached = this.#people.get(key);
    if (cached) return cached;
    try {
      const [team, person] = await Promise.all([this.#teamOf(channel), this.#ask(channel, userId)]);
      const found = this.#judge(team, person);
      this.#people.set(key, found);
      return found;
    } catch (error) {
      return { refused: `${silent} ${slackFailureOf(error).message}` };
    }
  }

  async #teamOf({ id, revision, settings }: AskedChannel): Promise<string | undefined> {
    const key = `${id} ${revision}`;
    const cached = this.#teams.get(key);
    if (cached !== undefined) return cached;
    const { team_id } = await slackClient(this.#egress, settings).auth.test();
    if (team_id !== undefined) this.#teams.set(key, team_id);
    return team_id;
  }

  async #ask({ settings }: AskedChannel, userId: string) {
    const { user } = await slackClient(this.#egress, settings).users.info({ user: userId });
    return { asked: userId, user };
  }

  #judge(
    team: string | undefined,
    { asked, user }: { asked: string; user: SlackUser | undefined },
  ): SlackPerson {
    if (team === undefined || user === undefined || user.id !== asked) return { refused: silent };
    if (user.team_id !== team || (user as { is_stranger?: boolean }).is_stranger) {
      return { refused: 'Your account in Slack is of another workspace than that of this channel.' };
    }
    if (user.deleted) return { refused: 'Your account in Slack is deactivated.' };
    if (user.is_bot) return { refused: 'A bot decides nothing.' };
    if (user.is_email_confirmed !== true)
      return { refused: 'Slack has not confirmed the e-mail of your account.' };
    const email = user.profile?.email;
    return email ? { email } : { refused: 'Slack does not tell the e-mail of your account.' };
  }
}
