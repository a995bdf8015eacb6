import {
  type FetchFunction,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from '@slack/web-api';
import type { Egress } from '../../../lib/egress.ts';
import { failureOf } from '../../../lib/egress-exchange.ts';
import { messageOf } from '../../../lib/errors.ts';
import type { SettingsOf } from '../../settings.ts';

/** The time limit of one call, in milliseconds. An attempt makes three at most. */
const callMs = 5_000;

/** Its own messages may quote what was sent: nothing of it is logged. */
export const silentSlackLogger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};

/** Options of a client whose connections leave through egress, and which tries nothing a second time. */
export const clientOptions = (egress: Pick<Egress, 'fetch'>, { api_url }: SettingsOf<'slack'>) => ({
  slackApiUrl: api_url,
  allowAbsoluteUrls: false,
  fetch: egress.fetch as unknown as FetchFunction,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: callMs,
});

export const slackClient = (
  egress: Pick<Egress, 'fetch'>,
  settings: SettingsOf<'slack'>,
  token: string = settings.bot_token,
): WebClient => new WebClient(token, { ...clientOptions(egress, settings), logger: silentSlackLogger });

/** The reason why a call of Slack failed. */
export interface SlackFailure {
  /** The code of Slack, such as `channel_not_found`; null: there is none. */
  code: string | null;
  /** A sentence. */
  message: string;
  /** For how long Slack wants no calls, in milliseconds; null: it did not say. */
  retryAfterMs: number | null;
}

export const slackFailureOf = (error: unknown): SlackFailure => {
  if (error instanceof WebAPIRateLimitedError) {
    return {
      code: 'ratelimited',
      message: 'Slack wants no more calls for a while.',
      retryAfterMs: error.retryAfter * 1_000,
    };
  }
  if (error instanceof WebAPIPlatformError) {
    // Only what looks like a code: nothing else of a response is shown.
    const given = error.data.error;
    const code = /^[a-z0-9_]{1,80}$/.test(given) ? given : 'unknown_error';
    return { code, message: `Slack refused it: ${code}.`, retryAfterMs: null };
  }
  if (error instanceof WebAPIHTTPError) {
    return { code: null, message: `Slack responded with ${error.statusCode}.`, retryAfterMs: null };
  }
  if (error instanceof WebAPIRequestError) {
    return { code: null, message: `${failureOf(error.original).message}.`, retryAfterMs: null };
  }
  const tooMany = messageOf(error).startsWith('Retry header');
  return {
    code: tooMany ? 'ratelimited' : null,
    message: tooMany ? 'Slack wants no more calls for a while.' : 'Slack did not respond as it should.',
    retryAfterMs: null,
  };
};
