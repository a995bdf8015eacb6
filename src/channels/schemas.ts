import { z } from 'zod';
import { checkedLater, id, optional, pageOf, pageQuery, stepsOf, timestamp } from '../http/index.ts';
import { mapValues } from '../lib/objects.ts';
import { required } from '../resource/index.ts';
import { checkCreatedSlack, createdFields, describedChanges } from './configuration.ts';
import { channelKinds } from './settings.ts';
import { channelStates, channels } from './store.ts';
import { stepNames } from './test-steps.ts';

const kind = z.enum(channelKinds);

const { include_arguments: _, ...fields } = channels.create;

/** Whether messages have arguments unless a body says so: those of other systems do not. */
const withArguments = (byDefault: boolean) => ({
  ...fields,
  include_arguments: optional(z.boolean(), byDefault).describe(
    'Whether messages have the arguments of calls.',
  ),
});

const createSlack = z
  .object({ kind: z.literal('slack'), ...withArguments(true), ...createdFields.slack })
  .superRefine(checkCreatedSlack)
  .meta({ id: 'CreateSlackChannel' });
const createEmail = z
  .object({ kind: z.literal('email'), ...withArguments(true), ...createdFields.email })
  .meta({ id: 'CreateEmailChannel' });
const createWebhook = z
  .object({ kind: z.literal('webhook'), ...withArguments(false), ...createdFields.webhook })
  .meta({ id: 'CreateWebhookChannel' });
const createTeams = z
  .object({ kind: z.literal('teams'), ...withArguments(false), ...createdFields.teams })
  .meta({ id: 'CreateTeamsChannel' });
const createPagerduty = z
  .object({ kind: z.literal('pagerduty'), ...withArguments(false), ...createdFields.pagerduty })
  .meta({ id: 'CreatePagerdutyChannel' });

export const createBody = z
  .discriminatedUnion('kind', [createSlack, createEmail, createWebhook, createTeams, createPagerduty])
  .meta({ id: 'CreateChannelBody' });

export const updateBody = z
  .object({
    ...channels.patch,
    kind: z.string().optional().describe('Cannot be changed.'),
    ...mapValues(describedChanges, checkedLater),
  })
  .describe('Fields of other kinds are refused. Another `url` or `api_url` needs every secret again.')
  .meta({ id: 'UpdateChannelBody' });

/** Channels in a workspace document, with their fields in its order. */
export const form = {
  fields: { name: channels.fields.name, kind: required(z.string()).fixed() },
  body: createBody,
  patch: updateBody,
  // The url of a workflow of Teams has its key in it.
  secrets: [
    'bot_token',
    'app_token',
    'signing_secret',
    'smtp_url',
    'headers.*',
    'secret',
    'routing_key',
    'url',
  ],
  address: ({ url, api_url }: Record<string, unknown>) => [url, api_url],
};

const shown = {
  id,
  name: channels.shown.name,
  enabled: z.boolean(),
  include_arguments: z.boolean(),
  state: z.enum(channelStates).describe('What came of the last attempt with the present settings.'),
  last_success_at: timestamp.nullable(),
  last_error: z.string().nullable(),
  created_by: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const channel = z
  .discriminatedUnion('kind', [
    z
      .object({
        kind: z.literal('slack'),
        ...shown,
        bot_token_set: z.boolean(),
        app_token_set: z.boolean(),
        signing_secret_set: z.boolean(),
        interactions_url: z
          .string()
          .nullable()
          .describe('The request url of interactivity in Slack; null without a `signing_secret`.'),
        conversation: z.string().nullable(),
        buttons: z.boolean(),
        api_url: z.string(),
      })
      .meta({ id: 'SlackChannel' }),
    z
      .object({
        kind: z.literal('email'),
        ...shown,
        smtp_url_set: z.boolean(),
        smtp_host: z.string(),
        from: z.string(),
        recipients: z.array(z.string()),
        tls: z.enum(['required', 'none']),
      })
      .meta({ id: 'EmailChannel' }),
    z
      .object({
        kind: z.literal('webhook'),
        ...shown,
        url: z.string(),
        header_names: z.array(z.string()),
        secret_set: z.boolean(),
        secret: z
          .string()
          .optional()
          .describe('The generated signing secret: only in the response of the request that created it.'),
      })
      .meta({ id: 'WebhookChannel' }),
    z
      .object({ kind: z.literal('teams'), ...shown, url_set: z.boolean(), host: z.string() })
      .meta({ id: 'TeamsChannel' }),
    z
      .object({ kind: z.literal('pagerduty'), ...shown, routing_key_set: z.boolean(), url: z.string() })
      .meta({ id: 'PagerdutyChannel' }),
  ])
  .meta({ id: 'Channel' });

export const channelPage = pageOf('ChannelPage', channel);

export const listQuery = pageQuery.extend({ kind: kind.optional() });

export const testResult = z
  .object({
    ok: z.boolean(),
    steps: stepsOf(stepNames).describe(
      'In order; the first that failed is the last. A channel has the steps that its kind needs.',
    ),
  })
  .meta({ id: 'ChannelTestResult' });
