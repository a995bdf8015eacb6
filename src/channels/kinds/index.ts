import type { Clock } from '../../lib/clock.ts';
import type { Egress } from '../../lib/egress.ts';
import type { ChannelKind, ChannelSettings } from '../settings.ts';
import { emailKind } from './email.ts';
import type { Kind, Outgoing, SendResult, TestContext } from './kind.ts';
import { pagerdutyKind } from './pagerduty.ts';
import { slackKind } from './slack/index.ts';
import { teamsKind } from './teams.ts';
import { webhookKind } from './webhook.ts';

export type { Outgoing, SendResult } from './kind.ts';

interface Parts {
  egress: Egress;
  clock: Clock;
  publicUrl: () => string;
}

/** Sends and tests by the kind of the settings. */
export interface Kinds {
  send(settings: ChannelSettings, message: Outgoing): Promise<SendResult>;
  test(settings: ChannelSettings, context: TestContext): Promise<void>;
}

export const createKinds = (parts: Parts): Kinds => {
  const kinds: { [K in ChannelKind]: Kind<K> } = {
    slack: slackKind(parts),
    email: emailKind(parts),
    webhook: webhookKind(parts),
    teams: teamsKind(parts, parts.publicUrl),
    pagerduty: pagerdutyKind(parts),
  };
  const kindOf = (settings: ChannelSettings) => kinds[settings.kind] as Kind<ChannelKind>;
  return {
    send: (settings, message) => kindOf(settings).send(settings as never, message),
    test: (settings, context) => kindOf(settings).test(settings as never, context),
  };
};
