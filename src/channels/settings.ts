import type { Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';

export const channelKinds = ['slack', 'email', 'webhook', 'teams', 'pagerduty'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export interface SlackSettings {
  kind: 'slack';
  /** Secret. */
  bot_token: string;
  /** For Socket Mode, which needs no public address. Secret. */
  app_token?: string;
  /** For clicks over HTTP. Secret. */
  signing_secret?: string;
  /** The id of the conversation of `"channel"`. */
  conversation?: string;
  /** Whether people decide in Slack. */
  buttons: boolean;
  /** Ends in a slash. */
  api_url: string;
}

export interface EmailSettings {
  kind: 'email';
  /** With user and password: secret. */
  smtp_url: string;
  from: string;
  /** Those of `"channel"`. */
  recipients: string[];
  tls: 'required' | 'none';
}

interface WebhookSettings {
  kind: 'webhook';
  url: string;
  /** Their values are secret. */
  headers: Record<string, string>;
  secret: string;
}

interface TeamsSettings {
  kind: 'teams';
  /** The address of a workflow has its key in it: secret. */
  url: string;
}

interface PagerdutySettings {
  kind: 'pagerduty';
  /** Secret. */
  routing_key: string;
  url: string;
}

/** Settings as they are stored. */
export type ChannelSettings =
  | SlackSettings
  | EmailSettings
  | WebhookSettings
  | TeamsSettings
  | PagerdutySettings;

export type SettingsOf<K extends ChannelKind> = Extract<ChannelSettings, { kind: K }>;

/** The fields of each kind, as bodies have them. */
export const fieldsOfKind = {
  slack: ['bot_token', 'app_token', 'signing_secret', 'conversation', 'buttons', 'api_url'],
  email: ['smtp_url', 'from', 'recipients', 'tls'],
  webhook: ['url', 'headers', 'secret'],
  teams: ['url'],
  pagerduty: ['routing_key', 'url'],
} as const satisfies { [K in ChannelKind]: readonly (keyof SettingsOf<K>)[] };

/** Fields that no response, audit entry or log shows. The url of a workflow of Teams is one besides. */
const secretFields = new Set([
  'bot_token',
  'app_token',
  'signing_secret',
  'smtp_url',
  'headers',
  'secret',
  'routing_key',
]);

export const createSettingsStore = (vault: Vault) => {
  const plain = Object.values(fieldsOfKind)
    .flat()
    .filter((field) => !secretFields.has(field));
  const sealed = new SealedSettings<ChannelSettings>(vault, 'channels', ['kind', ...plain]);
  const sealedOfTeams = new SealedSettings<ChannelSettings>(vault, 'channels', ['kind']);
  return {
    secrets: [sealed.column],
    seal: (id: string, settings: ChannelSettings) => sealed.seal(id, settings),
    open: (row: { id: string; settings: string }): ChannelSettings => sealed.open(row),
    /** The settings for the audit log. */
    masked: (settings: ChannelSettings) =>
      (settings.kind === 'teams' ? sealedOfTeams : sealed).masked(settings),
  };
};

export type ChannelSettingsStore = ReturnType<typeof createSettingsStore>;

/** The secrets in the settings, for what must not repeat them. */
export const secretsIn = (settings: ChannelSettings): string[] => {
  switch (settings.kind) {
    case 'slack': {
      const { bot_token, app_token, signing_secret } = settings;
      return [bot_token, app_token, signing_secret].filter((one) => one !== undefined);
    }
    case 'email': {
      const { username, password } = new URL(settings.smtp_url);
      return [settings.smtp_url, decodeURIComponent(username), decodeURIComponent(password)].filter(Boolean);
    }
    case 'webhook':
      return [settings.secret, ...Object.values(settings.headers)];
    case 'teams':
      return [settings.url];
    case 'pagerduty':
      return [settings.routing_key];
  }
};

/** The settings as the API shows them: whether there are secrets, not which. */
export const shownSettings = (settings: ChannelSettings, interactionsUrl: string) => {
  switch (settings.kind) {
    case 'slack':
      return {
        kind: settings.kind,
        bot_token_set: true,
        app_token_set: settings.app_token !== undefined,
        signing_secret_set: settings.signing_secret !== undefined,
        interactions_url: settings.signing_secret === undefined ? null : interactionsUrl,
        conversation: settings.conversation ?? null,
        buttons: settings.buttons,
        api_url: settings.api_url,
      };
    case 'email':
      return {
        kind: settings.kind,
        smtp_url_set: true,
        smtp_host: new URL(settings.smtp_url).hostname,
        from: settings.from,
        recipients: settings.recipients,
        tls: settings.tls,
      };
    case 'webhook':
      return {
        kind: settings.kind,
        url: settings.url,
        header_names: Object.keys(settings.headers),
        secret_set: true,
      };
    case 'teams':
      return { kind: settings.kind, url_set: true, host: new URL(settings.url).host };
    case 'pagerduty':
      return { kind: settings.kind, routing_key_set: true, url: settings.url };
  }
};
