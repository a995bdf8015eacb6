import { path, request, useEditForm, usePermission } from '../../api/index.ts';
import type { LlmConfiguration, UsedLlmConfiguration } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import {
  Button,
  Conflict,
  type Difference,
  Form,
  notify,
  Problem,
  permissionReason,
} from '../../ui/index.ts';
import { LlmFields } from './LlmFields.tsx';
import { type LlmValues, secretsOf, toChanges, toValues } from './values.ts';

/** What two versions can be compared by. Secrets are left out. */
const shown = {
  name: common.name,
  model: words.model,
  base_url: words.base_url,
  api: words.api,
  organization: words.organization,
  project: words.project,
  api_version: words.api_version,
  deployment_urls: words.deployment_urls,
  region: words.region,
  credentials: words.credentials,
  access_key_id: words.access_key_id,
  max_output_tokens: words.max_output_tokens,
  context_tokens: words.context_tokens,
  timeout_seconds: words.timeout_seconds,
  temperature: words.temperature,
  reasoning_effort: words.reasoning_effort,
  streaming: words.streaming,
  prompt_caching: words.prompt_caching,
} as const satisfies Partial<Record<keyof LlmValues, string>>;

const textOf = (value: string | number | boolean | null): string => {
  if (typeof value === 'boolean') return value ? common.yes : common.no;
  return value === null ? '' : String(value);
};

const differences = (theirs: LlmValues, mine: LlmValues): Difference[] =>
  (Object.keys(shown) as (keyof typeof shown)[])
    .filter((name) => theirs[name] !== mine[name])
    .map((name) => ({ label: shown[name], theirs: textOf(theirs[name]), mine: textOf(mine[name]) }));

/** Changes an LLM configuration. Secrets that are not replaced stay. */
export const SettingsForm = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const reason = permissionReason(usePermission('updateLlmConfiguration'));
  const address = path`/app/api/llm-configurations/${llm.id}`;
  const edit = useEditForm({
    path: address,
    loaded: { body: llm, etag },
    toValues,
    save: async (
      values: LlmValues,
      ifMatch,
    ): Promise<{ body: UsedLlmConfiguration; etag: string | null }> => {
      const { body, etag } = await request<LlmConfiguration>(
        'PATCH',
        path`/api/v2/llm-configurations/${llm.id}`,
        { body: toChanges(values, overwritten()), ifMatch },
      );
      notify(words.saved);
      return { body: { ...saved, ...body }, etag };
    },
    invalidates: ['/app/api/llm-configurations', '/api/v2/llm-configurations'],
  });
  const { form, saved, theirs, keepTheirs, writeMine, later } = edit;
  // "Write mine" changes all that someone else saved, except secrets, which it does not show.
  const overwritten = (): LlmValues => {
    const own = toValues(saved);
    return theirs ? { ...theirs, ...secretsOf(own) } : own;
  };
  return (
    <>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" busy={form.busy} disabledReason={reason}>
              {common.save}
            </Button>
            {form.dirty && (
              <Button kind="quiet" onClick={() => form.reset()}>
                {common.discard}
              </Button>
            )}
          </>
        }
      >
        <LlmFields
          form={form}
          fixed
          stored={{
            api_key: saved.api_key_set ?? false,
            secret_access_key: saved.secret_access_key_set ?? false,
            session_token: saved.session_token_set ?? false,
            headers: saved.header_names ?? [],
          }}
          disabledReason={reason}
        />
        {form.error && !form.conflict && <Problem error={form.error} />}
      </Form>
      <Conflict
        open={theirs !== null}
        differences={theirs ? differences(theirs, form.values) : []}
        onKeepTheirs={keepTheirs}
        onWriteMine={() => void writeMine()}
        onClose={later}
        busy={form.busy}
      />
    </>
  );
};
