import type { WebClient } from '@slack/web-api';
import { type Egress, EgressError } from '../../../lib/egress.ts';
import type { Posted } from '../../messages/store.ts';
import type { SettingsOf } from '../../settings.ts';
import { reachInSteps, type StepName, TestFailure, testFailureOf } from '../../test-steps.ts';
import type { Kind, Outgoing, SendResult } from '../kind.ts';
import { slackMessage } from './blocks.ts';
import { slackClient, slackFailureOf } from './client.ts';

type Settings = SettingsOf<'slack'>;

interface Parts {
  egress: Egress;
  publicUrl: () => string;
}

/** Codes that no other attempt changes: the message itself is what Slack refuses. */
const permanentCodes = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_too_long',
  'msg_blocks_too_long',
]);

/** What a message must not do, whatever its text. */
const inert = { unfurl_links: false, unfurl_media: false, link_names: false, mrkdwn: false } as const;

/** The scopes that messages and decisions need. */
const scopes = ['chat:write', 'im:write', 'users:read', 'users:read.email'];

/** There is no one in Slack for a person: no attempt changes that, and the channel is well. */
class NoRecipient extends Error {}

/** The conversation of a message: that of the channel, or the direct messages of a person. */
const conversationOf = async (client: WebClient, settings: Settings, to: Outgoing['to']): Promise<string> => {
  if (to === 'channel') {
    if (settings.conversation === undefined) throw new NoRecipient('The channel has no `conversation`.');
    return settings.conversation;
  }
  if (!('person' in to)) throw new NoRecipient('Slack has no addresses.');
  const noRecipient = () =>
    new NoRecipient(`${to.person.name} has no account in Slack with the e-mail of this platform.`);
  const { user } = await client.users.lookupByEmail({ email: to.person.email }).catch((error: unknown) => {
    throw slackFailureOf(error).code === 'users_not_found' ? noRecipient() : error;
  });
  if (user?.id === undefined || user.deleted || user.is_bot) throw noRecipient();
  const { channel } = await client.conversations.open({ users: user.id });
  return channel!.id!;
};

/** Edits a message; one that was deleted in Slack needs no edit. */
export const updateSlackMessage = async (
  client: WebClient,
  { conversation, ts }: { conversation: string; ts: string },
  message: ReturnType<typeof slackMessage>,
): Promise<void> => {
  await client.chat
    .update({ channel: conversation, ts, ...message, link_names: false } as never)
    .catch((error: unknown) => {
      if (slackFailureOf(error).code !== 'message_not_found') throw error;
    });
};

const postOrUpdate = async (
  client: WebClient,
  settings: Settings,
  { notice, subject, withArguments, to, posted }: Outgoing,
): Promise<Omit<Posted, 'type'>> => {
  const message = slackMessage(subject, notice, { buttons: settings.buttons, withArguments });
  if (posted?.conversation !== undefined && posted.ts !== undefined) {
    const place = { conversation: posted.conversation, ts: posted.ts };
    await updateSlackMessage(client, place, message);
    return place;
  }
  const conversation = await conversationOf(client, settings, to);
  const { channel, ts } = await client.chat.postMessage({
    channel: conversation,
    ...message,
    ...inert,
  } as never);
  return { conversation: channel ?? conversation, ts: ts! };
};

export const slackKind = ({ egress, publicUrl }: Parts): Kind<'slack'> => ({
  send: async (settings, message): Promise<SendResult> => {
    const client = slackClient(egress, settings);
    try {
      return { outcome: 'delivered', posted: await postOrUpdate(client, settings, message) };
    } catch (error) {
      if (error instanceof NoRecipient) {
        return { outcome: 'failed', error: error.message, blamesChannel: false };
      }
      const { code, message: reason, retryAfterMs } = slackFailureOf(error);
      if (code !== null && permanentCodes.has(code)) {
        return { outcome: 'failed', error: reason, blamesChannel: false };
      }
      return { outcome: 'retry', error: reason, retryAfterMs, pausesChannel: code === 'ratelimited' };
    }
  },

  test: async (settings, { steps }) => {
    const url = new URL(settings.api_url);
    const client = slackClient(egress, settings);
    const tryStep = async <T>(step: StepName, call: () => Promise<T>): Promise<T> => {
      steps.begin(step);
      try {
        return await steps.within(call());
      } catch (error) {
        if (error instanceof TestFailure) throw error;
        throw new TestFailure(slackFailureOf(error).message);
      }
    };
    try {
      await reachInSteps(egress, url, steps);
    } catch (error) {
      if (error instanceof EgressError) throw testFailureOf(error, 'connect');
      throw error;
    }
    const auth = await tryStep(url.protocol === 'https:' ? 'tls' : 'authenticate', async () => {
      try {
        return await client.auth.test();
      } catch (error) {
        // Slack responded, so TLS is well.
        const { code, message } = slackFailureOf(error);
        throw new TestFailure(message, code === null ? null : 'authenticate');
      }
    }).catch((error: unknown) => {
      if (error instanceof TestFailure && error.step === 'authenticate' && url.protocol === 'https:') {
        steps.begin('tls');
        steps.passed('The certificate is trusted.');
      }
      throw error;
    });
    if (url.protocol === 'https:') steps.passed('The certificate is trusted.');
    steps.begin('authenticate');
    steps.passed(`Slack accepts the bot token${auth.team ? ` of the workspace ${auth.team}` : ''}.`);

    const granted = auth.response_metadata?.scopes;
    steps.begin('scopes');
    const missing = granted === undefined ? [] : scopes.filter((scope) => !granted.includes(scope));
    if (missing.length > 0) throw new TestFailure(`The bot token lacks the scopes ${missing.join(', ')}.`);
    steps.passed(
      granted === undefined ? 'Slack did not say which scopes it has.' : 'It has the scopes that are needed.',
    );

    if (settings.app_token !== undefined) {
      // No socket is opened: Slack would send clicks to it.
      const appClient = slackClient(egress, settings, settings.app_token);
      await tryStep('socket', () => appClient.apps.connections.open());
      steps.passed('Slack offers a socket.');
    }
    if (settings.conversation !== undefined) {
      await tryStep('message', () =>
        client.chat.postMessage({
          channel: settings.conversation!,
          text: `This is a test of a channel of Agent Platform: ${publicUrl()}`,
          ...inert,
        } as never),
      );
      steps.passed('Slack accepted the message.');
    }
  },
});
