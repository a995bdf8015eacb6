import { newId } from '../../lib/ids.ts';
import { cut } from '../messages/clean.ts';
import type { Notice } from '../messages/notice.ts';
import type { ShownAlert } from '../messages/subject.ts';
import type { SettingsOf } from '../settings.ts';
import type { Kind, SendResult } from './kind.ts';
import { type HttpRequest, type PostParts, sendRequest, testRequest } from './post.ts';

type Settings = SettingsOf<'pagerduty'>;
type Action = 'trigger' | 'acknowledge' | 'resolve';

/** The longest summary that the Events API v2 takes. */
const longestSummary = 1_024;
/** It refuses an event as malformed with 400, which no other attempt changes. */
const permanent = [400, 410];

const severities = { error: 'error', warning: 'warning', info: 'info' } as const;

const requestOf = (
  { url, routing_key }: Settings,
  action: Action,
  key: string,
  more: object = {},
): HttpRequest => ({
  url,
  body: JSON.stringify({ routing_key, event_action: action, dedup_key: key, ...more }),
});

const triggerOf = (alert: ShownAlert, notice: Notice): object => ({
  payload: {
    summary: cut(notice.title, longestSummary),
    source: 'agent-platform',
    severity: severities[alert.severity],
    timestamp: new Date(alert.fired_at).toISOString(),
    class: alert.kind,
    custom_details: Object.fromEntries(notice.facts.map(({ label, value }) => [label, value])),
  },
  links: [{ href: notice.link, text: 'Open' }],
  client: 'Agent Platform',
  client_url: notice.link,
});

/** The Events API v2 of PagerDuty. The key of an incident is the id of the alert, so that a repeated event changes nothing. */
export const pagerdutyKind = (parts: PostParts): Kind<'pagerduty'> => ({
  send: async (settings, { notice, subject, posted, signal }): Promise<SendResult> => {
    if (subject.type !== 'alert') {
      return { outcome: 'failed', error: 'PagerDuty gets alerts only.', blamesChannel: false };
    }
    const { alert } = subject;
    const send = (action: Action, more?: object) =>
      sendRequest(parts, requestOf(settings, action, alert.id, more), signal, permanent);
    // A resolved alert pages no one.
    if (notice.type === 'alert.resolved') return send('resolve');
    if (notice.type === 'alert.firing') return send('trigger', triggerOf(alert, notice));
    if (posted === null) {
      const triggered = await send('trigger', triggerOf(alert, notice));
      if (triggered.outcome !== 'delivered') return triggered;
    }
    return send('acknowledge');
  },
  // Resolving what it does not know does nothing, and a wrong key is refused.
  test: (settings, { steps }) => testRequest(parts, requestOf(settings, 'resolve', newId()), steps),
});
