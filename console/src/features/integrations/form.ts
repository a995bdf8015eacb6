import { integrations as kinds } from '../../api/kinds.gen.ts';
import type { ShownIntegration, ShownProviderSettings } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { choice, entries, flag, optionalChoice, secret, text } from '../../resource/fields.tsx';
import { integrations as words } from '../../text/en/integrations.ts';
import type { SecretEntry } from '../../ui/index.ts';

type Texts =
  | 'url'
  | 'dashboard_instance_id'
  | 'project_name'
  | 'username'
  | 'stack_name'
  | 'project_header'
  | 'trace_view_url'
  | 'data_source'
  | 'description';

interface IntegrationValues
  extends Record<Texts, string>,
    Record<'api_token' | 'api_key' | 'password', string | null>,
    Record<'headers' | 'additional_headers' | 'resource_attributes', SecretEntry[]> {
  provider: ShownProviderSettings['provider'];
  trace_ui_type: string | null;
  debug: boolean;
}

/** Settings that are empty are left out, and a stored secret is `{set: true}`. */
const unlessEmpty = { send: (value: string | null) => value || undefined };
const stored = (path: string) => ({
  read: (read: (path: string) => unknown) => (read(`settings.${path}.set`) ? null : ''),
  send: (value: string | null) => (value === null ? { set: true } : value || undefined),
});

export const integrationForm = describeForm<
  IntegrationValues,
  ShownIntegration,
  'createIntegration',
  'updateIntegration',
  'settings'
>(
  {
    words,
    kinds,
    kindOf: ({ provider }) => provider,
    inside: 'settings',
    whole: true,
    paths: { provider: 'settings.provider' },
  },
  {
    provider: choice('otlp_custom_headers', words.providers, {
      // Another provider has credentials of its own.
      also: () => ({ api_token: '', api_key: '', password: '', headers: [], additional_headers: [] }),
    }),
    url: text({ hint: words.urlHint, type: 'url' }),
    dashboard_instance_id: text(unlessEmpty),
    api_token: secret(stored('api_token')),
    project_name: text(unlessEmpty),
    api_key: secret(stored('api_key')),
    project_header: text({ ...unlessEmpty, hint: words.projectHeaderHint }),
    username: text(unlessEmpty),
    password: secret(stored('password')),
    additional_headers: entries(),
    stack_name: text({ ...unlessEmpty, hint: words.stackHint }),
    headers: entries(),
    trace_view_url: text({ ...unlessEmpty, hint: words.traceViewHint, type: 'url' }),
    trace_ui_type: optionalChoice(words.traceUis, unlessEmpty),
    data_source: text({
      ...unlessEmpty,
      hint: words.dataSourceHint,
      shown: ({ provider, trace_ui_type }) =>
        provider === 'hosted_dashboard' || trace_ui_type === 'dashboard_ui',
    }),
    resource_attributes: entries({ plain: true, hint: words.resourceAttributesHint }),
    description: text({ hint: words.descriptionHint }),
    debug: flag(false),
  },
);
